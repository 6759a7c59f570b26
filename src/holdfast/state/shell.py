"""Read a shell command line as a shell would, as far as that can be done without running it.

Gives the simple commands of a script in order: words with quotes taken off, redirections, and how
each is joined to the one before. What only a running shell can know (the value of a variable from
outside, the output of a command) makes a word unknown, and unknown words are None.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

OPERATORS = ("&&", "||", ";;", "|&", ";", "|", "&", "(", ")", "\n")
REDIRECTIONS = ("<<-", "<<<", "<<", "<>", "<&", "<", "&>>", "&>", ">>", ">&", ">|", ">")
OPERATOR_SIGNS = frozenset("&|;()\n")
REDIRECTION_SIGNS = frozenset("<>&0123456789")
SPACE = " \t"
BLANK = frozenset(" \t\r")
ENDS_WORD = frozenset(" \t\r\n;|()<>&")
# Where a run of plain signs ends, outside and inside double quotes.
SPECIAL = frozenset(" \t\r\n;|()<>&'\"\\$`{")
SPECIAL_QUOTED = frozenset('"\\$`')
MARK = "\0"
MARK_SPECIAL = str.maketrans(dict.fromkeys(SPECIAL, MARK))
MARK_SPECIAL_QUOTED = str.maketrans(dict.fromkeys(SPECIAL_QUOTED, MARK))
# Words that open or close a construct; the command behind them is what counts.
KEYWORDS = frozenset(
    ("if", "then", "elif", "else", "fi", "while", "until", "do", "done", "{", "}", "!", "time")
) | frozenset(("case", "esac", "in", "select", "coproc"))
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "e": "\x1b", "0": "\0"}
NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


class Command:
    """One simple command."""

    __slots__ = ("depth", "heredoc", "joint", "redirections", "words", "written")

    def __init__(self, joint: str, depth: int = 0) -> None:
        self.depth = depth
        """How many subshells it stands in: a `cd` in one ends with it."""
        self.joint = joint
        """The operator before it: && || ; | & ( or a newline."""
        self.words: list[str | None] = []
        self.written: list[str] = []
        """The words as they were written, quotes and all."""
        self.redirections: list[tuple[str, str | None]] = []
        self.heredoc = ""

    def __repr__(self) -> str:
        return f"{self.joint!r} {self.words} {self.redirections}"


def commands(script: str) -> list[Command]:
    """The simple commands of a script. Never raises: an unfinished quote ends with the text."""
    if script in _last_read:
        return _last_read[script]
    parser = _Parser(script)
    try:
        found = parser.parse()
    except RecursionError:
        # Nested deeper than anyone writes: what came before still counts.
        found = parser.found
    if len(_last_read) > MOST_READ:
        _last_read.clear()
    _last_read[script] = found
    return found


# Several rules ask about the same command, and about those that failed before.
_last_read: dict[str, list[Command]] = {}
MOST_READ = 100


class _Parser:
    def __init__(self, script: str) -> None:
        # No command can hold a NUL, so it is free to mark places with.
        self.text = script.replace(MARK, "").replace("\\\r\n", "").replace("\\\n", "")
        # The same text with one sign for all that are special: their places are found by C code.
        self.marked = self.text.translate(MARK_SPECIAL)
        self.marked_quoted = self.text.translate(MARK_SPECIAL_QUOTED) if '"' in script else ""
        self.at = 0
        self.depth = 0
        self.variables: dict[str, list[str]] = {}
        self.heredocs: list[tuple[Command, str, bool]] = []
        self.found: list[Command] = []

    def parse(self) -> list[Command]:
        command = Command("\n")
        text, length = self.text, len(self.text)
        while self.at < length:
            sign = text[self.at]
            if sign in BLANK:
                self.at += 1
            elif sign in OPERATOR_SIGNS and (operator := self._operator()):
                command = self._next(command, operator)
            elif sign == "#":
                self._skip_line()
            elif sign in REDIRECTION_SIGNS and (redirection := self._redirection()):
                self._redirect(command, redirection)
            elif word := self._plain_word():
                command.words.append(word)
                command.written.append(word)
            else:
                start = self.at
                command.words.extend(self._word())
                command.written.append(text[start : self.at])
        self._next(command, "")
        return self.found

    def _next(self, command: Command, operator: str) -> Command:
        """The command is complete: keep it, and begin the next."""
        if operator == "\n":
            self._skip_heredocs()
        while command.words and command.words[0] in KEYWORDS:
            del command.words[0], command.written[:1]
        if command.words[:1] == ["for"] and command.words[2:3] == ["in"]:
            values = [word for word in command.words[3:] if word is not None]
            self.variables[str(command.words[1])] = values
            command = Command(command.joint, command.depth)
        while command.words and self._assigns(command.words[0]):
            del command.words[0], command.written[:1]
        if command.words or command.redirections:
            self.found.append(command)
        self.depth = max(0, self.depth + (operator == "(") - (operator == ")"))
        return Command(operator, self.depth)

    def _assigns(self, word: str | None) -> bool:
        name, found, value = (word or "").partition("=")
        if not found or not name or not NAME.issuperset(name) or name[0].isdigit():
            return False
        self.variables[name] = [value]
        return True

    def _operator(self) -> str:
        operator = next((sign for sign in OPERATORS if self.text.startswith(sign, self.at)), "")
        if operator == "&" and self.text.startswith("&>", self.at):
            return ""
        self.at += len(operator)
        return operator

    def _redirection(self) -> str:
        """A redirection here, with the file descriptor that may stand before it."""
        start = self.at
        while start < len(self.text) and self.text[start].isdigit():
            start += 1
        sign = next((s for s in REDIRECTIONS if self.text.startswith(s, start)), "")
        if sign:
            self.at = start + len(sign)
        return sign

    def _redirect(self, command: Command, sign: str) -> None:
        while self.at < len(self.text) and self.text[self.at] in SPACE:
            self.at += 1
        words = self._word()
        target = words[0] if words else None
        if sign in ("<<", "<<-"):
            self.heredocs.append((command, target or "", sign == "<<-"))
        command.redirections.append((sign, target))

    def _skip_line(self) -> None:
        end = self.text.find("\n", self.at)
        self.at = len(self.text) if end < 0 else end

    def _skip_heredocs(self) -> None:
        """The bodies of here-documents start on the line after; they are data."""
        for command, mark, indented in self.heredocs:
            body = []
            while self.at < len(self.text):
                end = self.text.find("\n", self.at)
                end = len(self.text) if end < 0 else end
                line = self.text[self.at : end]
                self.at = end + 1
                if (line.lstrip("\t") if indented else line).rstrip("\r") == mark:
                    break
                body.append(line)
            command.heredoc = "\n".join(body)
        self.heredocs.clear()
        self.at = min(self.at, len(self.text))

    def _plain_word(self) -> str:
        """The word here, if nothing in it is special: most are so."""
        start, end = self.at, self.marked.find(MARK, self.at)
        end = end if end >= 0 else len(self.text)
        if end < len(self.text) and self.text[end] not in ENDS_WORD:
            return ""
        self.at = end
        return self.text[start:end]

    def _word(self) -> list[str | None]:
        """One word; a variable with several values gives as many words."""
        parts: list[list[str] | None] = []
        while self.at < len(self.text):
            sign = self.text[self.at]
            if sign not in SPECIAL:
                parts.append([self._run(self.marked)])
                continue
            if sign in ENDS_WORD:
                break
            self.at += 1
            if sign == "'":
                parts.append([self._until("'")])
            elif sign == '"':
                parts.extend(self._double_quoted())
            elif sign == "\\":
                parts.append([self.text[self.at : self.at + 1]])
                self.at += 1
            elif sign in "$`":
                parts.append(self._expansion(sign))
            else:
                parts.append(self._braces())
        return _joined(parts)

    def _run(self, marked: str) -> str:
        """The plain signs from here on."""
        start, end = self.at, marked.find(MARK, self.at)
        self.at = end if end >= 0 else len(marked)
        return self.text[start : self.at]

    def _braces(self) -> list[str]:
        """`{a,b}` is a and b; anything else in braces is itself."""
        inside = self.text[self.at :].partition("}")[0]
        plain = not any(sign in inside for sign in "\"'$`\\{ \t\n;|&")
        if not plain or "," not in inside or not self.text.startswith("}", self.at + len(inside)):
            return ["{"]
        self.at += len(inside) + 1
        return inside.split(",")

    def _until(self, end: str) -> str:
        stop = self.text.find(end, self.at)
        stop = len(self.text) if stop < 0 else stop
        found = self.text[self.at : stop]
        self.at = stop + 1
        return found

    def _ansi_quoted(self) -> str:
        """`$'…'`, in which a backslash means what it means in C."""
        found = ""
        while self.at < len(self.text):
            sign = self.text[self.at]
            self.at += 1
            if sign == "'":
                break
            if sign == "\\":
                sign = self.text[self.at : self.at + 1]
                sign = ESCAPES.get(sign, sign)
                self.at += 1
            found += sign
        return found

    def _double_quoted(self) -> Iterator[list[str] | None]:
        yield [""]
        while self.at < len(self.text):
            sign = self.text[self.at]
            self.at += 1
            if sign == '"':
                return
            if sign == "\\" and self.text[self.at : self.at + 1] in ('"', "\\", "$", "`"):
                yield [self.text[self.at]]
                self.at += 1
            elif sign in "$`":
                yield self._expansion(sign)
            elif sign == "\\":
                yield [sign]
            else:
                self.at -= 1
                yield [self._run(self.marked_quoted)]

    def _expansion(self, sign: str) -> list[str] | None:
        """What stands behind `$` or a back-quote, if it can be known."""
        rest = self.text[self.at : self.at + 1]
        if sign == "`":
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
        while self.at < len(self.text) and self.text[self.at] in NAME:
            self.at += 1
        if start == self.at:
            return ["$"] if not rest or rest in SPACE + '\n"' else None
        return self.variables.get(self.text[start : self.at])

    def _skip_nested(self, opens: str, closes: str) -> None:
        """Past the bracket that closes the one here, minding quotes and here-documents."""
        depth = 0
        while self.at < len(self.text):
            sign = self.text[self.at]
            self.at += 1
            if sign == "\\":
                self.at += 1
            elif sign == "'":
                self._until("'")
            elif sign == '"':
                for _ in self._double_quoted():
                    pass
            elif sign == "<" and opens == "(" and self.text.startswith("<", self.at):
                self._skip_inner_heredoc()
            elif sign == opens:
                depth += 1
            elif sign == closes:
                depth -= 1
                if depth == 0:
                    return

    def _skip_inner_heredoc(self) -> None:
        self.at += 1
        if self.text.startswith("<", self.at):
            return
        indented = self.text.startswith("-", self.at)
        self.at += indented
        while self.at < len(self.text) and self.text[self.at] in SPACE:
            self.at += 1
        words = self._word()
        mark = (words[0] if words else "") or ""
        waiting, self.heredocs = self.heredocs, [(Command(""), mark, indented)]
        self._skip_line()
        self.at += 1
        self._skip_heredocs()
        self.heredocs = waiting


def _joined(parts: list[list[str] | None]) -> list[str | None]:
    """All combinations of what the parts of a word can be; unknown if one part is."""
    if len(parts) == 1 and parts[0] is not None and len(parts[0]) == 1:
        return [parts[0][0]]
    made = [""]
    for part in parts:
        if part is None:
            return [None]
        if len(part) == 1:
            made = [text + part[0] for text in made]
        else:
            made = [text + choice for text in made for choice in part[:50]][:200]
    return list(made)
