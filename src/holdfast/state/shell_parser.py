"""Parse a shell script as far as that is possible without running it.

Returns the simple commands of a script in order: words without their quotes, redirections, and the
operator that joins each to the one before. A word that only a running shell could know (the value
of a variable from outside, the output of a command) is None.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

OPERATORS = ("&&", "||", ";;", "|&", ";", "|", "&", "(", ")", "\n")
REDIRECTIONS = ("<<-", "<<<", "<<", "<>", "<&", "<", "&>>", "&>", ">>", ">&", ">|", ">")
OPERATOR_CHARS = frozenset("&|;()\n")
REDIRECTION_CHARS = frozenset("<>&0123456789")
SPACE = " \t"
BLANK = frozenset(" \t\r")
ENDS_WORD = frozenset(" \t\r\n;|()<>&")
# Characters that end a run of plain ones, outside and inside double quotes.
SPECIAL = frozenset(" \t\r\n;|()<>&'\"\\$`{")
SPECIAL_QUOTED = frozenset('"\\$`')
MARK = "\0"
MARK_SPECIAL = str.maketrans(dict.fromkeys(SPECIAL, MARK))
MARK_SPECIAL_QUOTED = str.maketrans(dict.fromkeys(SPECIAL_QUOTED, MARK))
# Words that open or close a construct; the command after them is what counts.
KEYWORDS = frozenset(
    ("if", "then", "elif", "else", "fi", "while", "until", "do", "done", "{", "}", "!", "time")
) | frozenset(("case", "esac", "in", "select", "coproc"))
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "e": "\x1b", "0": "\0"}
NAME_CHARS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


class ShellCommand:
    """One simple command."""

    __slots__ = ("depth", "heredoc", "operator", "raw_words", "redirections", "words")

    def __init__(self, operator: str, depth: int = 0) -> None:
        self.depth = depth
        """The number of subshells around it: the effect of a `cd` ends with its subshell."""
        self.operator = operator
        """The operator before it: && || ; | & ( or a newline."""
        self.words: list[str | None] = []
        self.raw_words: list[str] = []
        """The words as they were written, with quotes."""
        self.redirections: list[tuple[str, str | None]] = []
        self.heredoc = ""

    def __repr__(self) -> str:
        return f"{self.operator!r} {self.words} {self.redirections}"


# Several rules parse the same command, and those that failed before.
_parsed: dict[str, list[ShellCommand]] = {}
MAX_CACHED_SCRIPTS = 100


def parse_commands(script: str) -> list[ShellCommand]:
    """Return the simple commands of a script. Never raises: an open quote ends with the text."""
    if script in _parsed:
        return _parsed[script]
    parser = _Parser(script)
    try:
        commands = parser.parse()
    except RecursionError:
        # Nested deeper than any real script: the commands before still count.
        commands = parser.commands
    if len(_parsed) > MAX_CACHED_SCRIPTS:
        _parsed.clear()
    _parsed[script] = commands
    return commands


class _Parser:
    """Parses one script; `at` is the position in its text."""

    def __init__(self, script: str) -> None:
        # No command can contain a NUL, so it can serve as a marker.
        self.text = script.replace(MARK, "").replace("\\\r\n", "").replace("\\\n", "")
        # The same text with the marker for all special characters, so that `str.find` finds them.
        self.marked = self.text.translate(MARK_SPECIAL)
        self.marked_quoted = self.text.translate(MARK_SPECIAL_QUOTED) if '"' in script else ""
        self.at = 0
        self.depth = 0
        self.variables: dict[str, list[str]] = {}
        self.heredocs: list[tuple[ShellCommand, str, bool]] = []
        self.commands: list[ShellCommand] = []

    def parse(self) -> list[ShellCommand]:
        command = ShellCommand("\n")
        text, length = self.text, len(self.text)
        while self.at < length:
            char = text[self.at]
            if char in BLANK:
                self.at += 1
            elif char in OPERATOR_CHARS and (operator := self._operator()):
                command = self._finish(command, operator)
            elif char == "#":
                self._skip_line()
            elif char in REDIRECTION_CHARS and (redirection := self._redirection()):
                self._redirect(command, redirection)
            elif word := self._plain_word():
                command.words.append(word)
                command.raw_words.append(word)
            else:
                start = self.at
                command.words.extend(self._word())
                command.raw_words.append(text[start : self.at])
        self._finish(command, "")
        return self.commands

    def _finish(self, command: ShellCommand, operator: str) -> ShellCommand:
        """Keep a complete command, and return the next one, still empty."""
        if operator == "\n":
            self._read_heredocs()
        while command.words and command.words[0] in KEYWORDS:
            del command.words[0], command.raw_words[:1]
        if command.words[:1] == ["for"] and command.words[2:3] == ["in"]:
            values = [word for word in command.words[3:] if word is not None]
            self.variables[str(command.words[1])] = values
            command = ShellCommand(command.operator, command.depth)
        while command.words and self._assign(command.words[0]):
            del command.words[0], command.raw_words[:1]
        if command.words or command.redirections:
            self.commands.append(command)
        self.depth = max(0, self.depth + (operator == "(") - (operator == ")"))
        return ShellCommand(operator, self.depth)

    def _assign(self, word: str | None) -> bool:
        """Remember a variable, if the word is an assignment; return whether it is."""
        name, equals, value = (word or "").partition("=")
        if not equals or not name or not NAME_CHARS.issuperset(name) or name[0].isdigit():
            return False
        self.variables[name] = [value]
        return True

    def _operator(self) -> str:
        """Consume the operator at this position; "" if there is none."""
        operator = next((op for op in OPERATORS if self.text.startswith(op, self.at)), "")
        if operator == "&" and self.text.startswith("&>", self.at):
            return ""
        self.at += len(operator)
        return operator

    def _redirection(self) -> str:
        """Consume a redirection with the file descriptor before it; "" if there is none."""
        start = self.at
        while start < len(self.text) and self.text[start].isdigit():
            start += 1
        operator = next((op for op in REDIRECTIONS if self.text.startswith(op, start)), "")
        if operator:
            self.at = start + len(operator)
        return operator

    def _redirect(self, command: ShellCommand, operator: str) -> None:
        """Consume the target of a redirection and add it to the command."""
        while self.at < len(self.text) and self.text[self.at] in SPACE:
            self.at += 1
        words = self._word()
        target = words[0] if words else None
        if operator in ("<<", "<<-"):
            self.heredocs.append((command, target or "", operator == "<<-"))
        command.redirections.append((operator, target))

    def _skip_line(self) -> None:
        end = self.text.find("\n", self.at)
        self.at = len(self.text) if end < 0 else end

    def _read_heredocs(self) -> None:
        """Consume the bodies of here-documents, which start on the next line and are data."""
        for command, end_mark, indented in self.heredocs:
            body = []
            while self.at < len(self.text):
                end = self.text.find("\n", self.at)
                end = len(self.text) if end < 0 else end
                line = self.text[self.at : end]
                self.at = end + 1
                if (line.lstrip("\t") if indented else line).rstrip("\r") == end_mark:
                    break
                body.append(line)
            command.heredoc = "\n".join(body)
        self.heredocs.clear()
        self.at = min(self.at, len(self.text))

    def _plain_word(self) -> str:
        """Consume a word without special characters, as most are; "" if it has any."""
        start, end = self.at, self.marked.find(MARK, self.at)
        end = end if end >= 0 else len(self.text)
        if end < len(self.text) and self.text[end] not in ENDS_WORD:
            return ""
        self.at = end
        return self.text[start:end]

    def _word(self) -> list[str | None]:
        """Consume one word; a variable with several values gives as many words."""
        parts: list[list[str] | None] = []
        while self.at < len(self.text):
            char = self.text[self.at]
            if char not in SPECIAL:
                parts.append([self._run(self.marked)])
                continue
            if char in ENDS_WORD:
                break
            self.at += 1
            if char == "'":
                parts.append([self._until("'")])
            elif char == '"':
                parts.extend(self._double_quoted())
            elif char == "\\":
                parts.append([self.text[self.at : self.at + 1]])
                self.at += 1
            elif char in "$`":
                parts.append(self._expansion(char))
            else:
                parts.append(self._braces())
        return _combine(parts)

    def _run(self, marked: str) -> str:
        """Consume characters up to the next special one."""
        start, end = self.at, marked.find(MARK, self.at)
        self.at = end if end >= 0 else len(marked)
        return self.text[start : self.at]

    def _braces(self) -> list[str]:
        """Consume `{a,b}` and return its choices; an opening brace alone is returned as it is."""
        inside = self.text[self.at :].partition("}")[0]
        is_plain = not any(char in inside for char in "\"'$`\\{ \t\n;|&")
        if (
            not is_plain
            or "," not in inside
            or not self.text.startswith("}", self.at + len(inside))
        ):
            return ["{"]
        self.at += len(inside) + 1
        return inside.split(",")

    def _until(self, end: str) -> str:
        """Consume the text up to a character, and that character."""
        stop = self.text.find(end, self.at)
        stop = len(self.text) if stop < 0 else stop
        content = self.text[self.at : stop]
        self.at = stop + 1
        return content

    def _ansi_quoted(self) -> str:
        """Consume the rest of `$'…'`, in which backslashes are escapes as in C."""
        content = ""
        while self.at < len(self.text):
            char = self.text[self.at]
            self.at += 1
            if char == "'":
                break
            if char == "\\":
                char = self.text[self.at : self.at + 1]
                char = ESCAPES.get(char, char)
                self.at += 1
            content += char
        return content

    def _double_quoted(self) -> Iterator[list[str] | None]:
        """Consume the rest of a double-quoted string and yield its parts."""
        yield [""]
        while self.at < len(self.text):
            char = self.text[self.at]
            self.at += 1
            if char == '"':
                return
            if char == "\\" and self.text[self.at : self.at + 1] in ('"', "\\", "$", "`"):
                yield [self.text[self.at]]
                self.at += 1
            elif char in "$`":
                yield self._expansion(char)
            elif char == "\\":
                yield [char]
            else:
                self.at -= 1
                yield [self._run(self.marked_quoted)]

    def _expansion(self, char: str) -> list[str] | None:
        """Consume what follows `$` or a back-quote; return its values, or None if unknown."""
        rest = self.text[self.at : self.at + 1]
        if char == "`":
            self._until("`")
            return None
        if rest == "'":
            self.at += 1
            return [self._ansi_quoted()]
        if rest == "(":
            self._skip_nested("(", ")")
            return None
        if rest == "{":
            start = self.at + 1
            self._skip_nested("{", "}")
            return self.variables.get(self.text[start : self.at - 1])
        start = self.at
        while self.at < len(self.text) and self.text[self.at] in NAME_CHARS:
            self.at += 1
        if start == self.at:
            return ["$"] if not rest or rest in SPACE + '\n"' else None
        return self.variables.get(self.text[start : self.at])

    def _skip_nested(self, opens: str, closes: str) -> None:
        """Skip to after the closing bracket, past quotes and here-documents inside."""
        depth = 0
        while self.at < len(self.text):
            char = self.text[self.at]
            self.at += 1
            if char == "\\":
                self.at += 1
            elif char == "'":
                self._until("'")
            elif char == '"':
                for _ in self._double_quoted():
                    pass
            elif char == "<" and opens == "(" and self.text.startswith("<", self.at):
                self._skip_inner_heredoc()
            elif char == opens:
                depth += 1
            elif char == closes:
                depth -= 1
                if depth == 0:
                    return

    def _skip_inner_heredoc(self) -> None:
        """Skip a here-document inside `$(…)`."""
        self.at += 1
        if self.text.startswith("<", self.at):
            return
        indented = self.text.startswith("-", self.at)
        self.at += indented
        while self.at < len(self.text) and self.text[self.at] in SPACE:
            self.at += 1
        words = self._word()
        end_mark = (words[0] if words else "") or ""
        pending, self.heredocs = self.heredocs, [(ShellCommand(""), end_mark, indented)]
        self._skip_line()
        self.at += 1
        self._read_heredocs()
        self.heredocs = pending


def _combine(parts: list[list[str] | None]) -> list[str | None]:
    """Return all combinations of the parts' values; one unknown part makes the word unknown."""
    if len(parts) == 1 and parts[0] is not None and len(parts[0]) == 1:
        return [parts[0][0]]
    words = [""]
    for part in parts:
        if part is None:
            return [None]
        if len(part) == 1:
            words = [word + part[0] for word in words]
        else:
            words = [word + value for word in words for value in part[:50]][:200]
    return list(words)
