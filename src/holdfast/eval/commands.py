"""Split shell scripts into simple commands, as they can be run again (entity class C)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from posixpath import basename

# Commands that only look around or connect others: a brief need not repeat them.
TRIVIAL_COMMANDS = """
    cd ls ll echo cat pwd true false exit sleep head tail wc sort uniq test [ [[ printf export
    set unset source . clear which type tr cut tee read xargs date whoami wait kill pushd popd
    local return env shift break continue : alias eval column less more tac rev seq yes basename
    dirname realpath readlink mkdir touch declare typeset readonly
"""
TRIVIAL = frozenset(TRIVIAL_COMMANDS.split())
MIN_COMMAND_CHARS = 6
# A command may follow the first ones on the same line; a list of words, or nothing, the others.
COMMAND_KEYWORDS = frozenset(("if", "then", "elif", "else", "while", "until", "do", "{", "!"))
NO_COMMAND_KEYWORDS = frozenset(("for", "select", "case", "function", "done", "fi", "esac", "}"))

TOKEN = re.compile(
    r"""
      (?P<space>(?:[ \t\r]|\\\r?\n)+ | \#[^\n]*)
    | (?P<redirection>(?:\d+|&)?(?:>>|>\||<<<|<>|[<>](?!\())&?[ \t]*)
    | (?P<function>\([ \t]*\))
    | (?P<separator>&&|\|\|?&?|;;?&?|[&\n()])
    """,
    re.VERBOSE,
)
WORD_END_CHARS = frozenset(" \t\r\n;&|()<>")
ASSIGNMENT = re.compile(r"\w+(?:\[[^\]]*\])?\+?=")
CLOSER = {"$(": ")", "<(": ")", ">(": ")", "=(": ")", "${": "}", "(": ")", "`": "`", '"': '"'}
HERE_DOCUMENT = re.compile(r"(?<!<)<<(?!<)-?[ \t]*\\?(['\"]?)([A-Za-z_][\w.-]*)\1")
HERE_DOCUMENT_MARK = "\0"


@lru_cache(maxsize=20_000)
def split_commands(script: str) -> tuple[str, ...]:
    """Return the distinct commands of a script, without environment and redirections.

    Trivial commands such as `cd`, and those that read a here-document, are left out.
    """
    try:
        commands = [_to_text(words) for words in _split(_strip_here_documents(script))]
    except RecursionError:
        return ()
    return tuple(dict.fromkeys(filter(None, commands)))


def _strip_here_documents(script: str) -> str:
    """Replace each here-document by a redirection from a mark."""
    kept: list[str] = []
    delimiters: list[str] = []
    for line in script.split("\n"):
        if delimiters:
            if line.strip() == delimiters[0]:
                del delimiters[0]
            continue
        delimiters += [match[2] for match in HERE_DOCUMENT.finditer(line)]
        kept.append(HERE_DOCUMENT.sub(f"< {HERE_DOCUMENT_MARK}", line))
    return "\n".join(kept)


def _split(script: str) -> Iterator[list[str]]:
    """Yield the words of each simple command, as they are written, without redirections."""
    words: list[str] = []
    at, is_target = 0, False
    while at < len(script):
        token = TOKEN.match(script, at)
        if token is None:
            end = _word_end(script, at)
            if not is_target:
                words.append(script[at:end])
            at, is_target = end, False
            continue
        at = token.end()
        if token.lastgroup == "redirection":
            is_target = True
        elif token.lastgroup == "function":
            words = []
        elif token.lastgroup == "separator":
            yield words
            words, is_target = [], False
    yield words


def _word_end(script: str, at: int) -> int:
    start = at
    while at < len(script) and (script[at] not in WORD_END_CHARS or at == start):
        at = _unit_end(script, at)
        # An array, `x=(a b)`, is part of the word.
        if script.startswith("(", at) and script[at - 1] == "=":
            at = _unit_end(script, at)
    return at


def _unit_end(script: str, at: int) -> int:
    """Return the end of one character, or of the quoted or nested text that begins here."""
    if script[at] == "\\":
        return at + 2
    if script[at] == "'" or script.startswith("$'", at):
        escapes = r"\$'(?:\\.|[^'\\])*'?" if script[at] == "$" else r"'[^']*'?"
        match = re.compile(escapes, re.DOTALL).match(script, at)
        return match.end() if match else at + 1
    opener = script[at : at + 2] if script[at : at + 2] in CLOSER else script[at]
    if opener not in CLOSER:
        return at + 1
    closer, at = CLOSER[opener], at + len(opener)
    while at < len(script) and script[at] != closer:
        # Within double quotes an apostrophe is itself.
        at = at + 1 if closer == '"' and script[at] in "'(<>=" else _unit_end(script, at)
    return at + 1


def _to_text(words: list[str]) -> str:
    """Return a command without keywords and environment; "" if it is trivial or no command."""
    while words and (words[0] in COMMAND_KEYWORDS or ASSIGNMENT.match(words[0])):
        words = words[1:]
    if (
        not words
        or words[0] in NO_COMMAND_KEYWORDS
        or basename(words[0]) in TRIVIAL
        or words[-1] == "]]"
    ):
        return ""
    text = " ".join(" ".join(words).split())
    # A command that depends on a here-document cannot be run again by its name.
    return text if len(text) >= MIN_COMMAND_CHARS and HERE_DOCUMENT_MARK not in text else ""
