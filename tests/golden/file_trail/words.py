"""Expands the words of a command: quotes, variables, braces and globs.

A word of unknown value is None. During the expansion, quoted special characters are moved to a
private range of Unicode, so that they differ from unquoted ones.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import Protocol

from tree_sitter import Node

from tests.golden.file_trail.braces import expand_braces

SPECIAL_CHARACTERS = "*?[]{},\\ \t\n"
QUOTED = {ord(char): 0xE000 + ord(char) for char in SPECIAL_CHARACTERS}
UNQUOTED = {0xE000 + ord(char): char for char in SPECIAL_CHARACTERS}
FIELD_END = "\ue100"
NOT_PRINTABLE_ASCII = re.compile(r"[^\t\n\r\x20-\x7e]")
ESCAPED = re.compile(r"\x01([0-9a-f]+)\x02")
PLAIN = {"word", "number", "extglob_pattern", "regex", "brace_expression", "variable_name"}
EXPANSION = re.compile(r"\$\{?(#?)(\w+|[@*#?$!-])(?:\[([^\]]*)\])?(.*?)\}?$", re.S)
ANSI = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f"}


def escape_non_ascii(command: str) -> str:
    """Replace every character that is not printable ASCII with its code.

    tree-sitter-bash 0.25 looks up every character after `{` in C's ctype tables, and reads past
    their end for high ones: `O{` and U+DEF9F crash the process.
    """
    return NOT_PRINTABLE_ASCII.sub(lambda char: f"\x01{ord(char[0]):x}\x02", command)


def source_text(node: Node) -> str:
    """Return the text of a node as it was written."""
    return _decode(node.text or b"")


def _decode(text: bytes) -> str:
    return ESCAPED.sub(lambda code: chr(int(code[1], 16)), text.decode("ascii", "replace"))


class Scope(Protocol):
    """The part of a shell that words need."""

    def variable(self, name: str) -> list[str] | None: ...

    def substitute_command(self, node: Node) -> str | None: ...

    def match_glob(self, pattern: str) -> list[str]: ...


def expand_word(node: Node, scope: Scope) -> list[str | None]:
    """Return the arguments that one word expands to, or [None] if they are unknown."""
    raw = _expand(node, scope)
    if raw is None:
        return [None]
    quoted = any(child.type in ("string", "raw_string") for child in (node, *node.children))
    arguments: list[str | None] = []
    for text in expand_braces(raw):
        for part in text.split(FIELD_END):
            if part or quoted:
                arguments += _expand_glob(part, scope)
    return arguments


def _expand_glob(part: str, scope: Scope) -> list[str]:
    if not re.search(r"[*?\[]", part):
        return [unquote(part)]
    # bash keeps a pattern without a match, and `app/[id]/page.tsx` is more often a name.
    return scope.match_glob(part) or ([] if re.search(r"[*?]", part) else [unquote(part)])


def single_value(node: Node, scope: Scope) -> str | None:
    """Expand a word where the shell neither splits nor globs, like in an assignment."""
    raw = _expand(node, scope)
    return None if raw is None else unquote(raw.replace(FIELD_END, " "))


def unquote(text: str) -> str:
    return text.translate(UNQUOTED)


def glob_pattern(text: str) -> re.Pattern[str]:
    """Compile a glob for whole paths: a star matches within one folder and no hidden names."""
    parts = []
    for part in text.split("/"):
        hidden = "" if part.startswith(".") else r"(?!\.)"
        parts.append(hidden + "".join(_glob_piece(piece) for piece in _glob_pieces(part)))
    return re.compile("/".join(parts) + r"\Z", re.S)


def _glob_pieces(part: str) -> list[str]:
    return re.findall(r"\*+|\?|\[[!^]?\]?[^\]]*\]|.", part, re.S)


def _glob_piece(piece: str) -> str:
    if piece[0] == "*":
        return "[^/]*"
    if piece == "?":
        return "[^/]"
    if piece[0] == "[" and len(piece) > 2:
        return _glob_set(unquote(piece[1:-1])) or re.escape(unquote(piece))
    return re.escape(unquote(piece))


def _glob_set(inside: str) -> str:
    """Convert `[a-z]` to a regular expression; return an empty string if it is not valid."""
    negated = inside[0] in "!^"
    escaped = re.sub(r"([^\w-])", r"\\\1", inside[1:] if negated else inside)
    pattern = f"[{'^' if negated else ''}{escaped}]"
    try:
        return "" if "--" in escaped else re.compile(pattern).pattern
    except re.error:
        return ""


def _expand(node: Node, scope: Scope, quoted: bool = False) -> str | None:
    written, kind = source_text(node), node.type
    if kind in PLAIN:
        return _unescape(written)
    if kind == "raw_string":
        return written[1:-1].translate(QUOTED)
    if kind == "ansi_c_string":
        return re.sub(r"\\(.)", lambda char: ANSI.get(char[1], char[1]), written[2:-1]).translate(
            QUOTED
        )
    if kind in ("simple_expansion", "expansion"):
        return _expand_variable(written, scope, quoted)
    if kind in ("command_substitution", "process_substitution"):
        value = scope.substitute_command(node)
        return None if value is None else _split(value, quoted)
    if kind in ("string", "concatenation", "translated_string", "command_name"):
        return _join_children(node, scope, quoted or kind == "string")
    return None if node.child_count else written


def _join_children(node: Node, scope: Scope, quoted: bool) -> str | None:
    """Join the values of the children and the plain text between them, which has no node."""
    text, parts, position = node.text or b"", [], 0
    for child in node.children:
        begin, end = child.start_byte - node.start_byte, child.end_byte - node.start_byte
        parts.append(_literal(text[position:begin], quoted))
        position = end
        if child.type == "string_content" or not child.is_named:
            parts.append("" if child.type == '"' else _literal(text[begin:end], quoted))
            continue
        value = _expand(child, scope, quoted)
        if value is None:
            return None
        parts.append(value)
    return "".join(parts) + _literal(text[position:], quoted)


def _literal(text: bytes, quoted: bool) -> str:
    written = _decode(text)
    if not quoted:
        return _unescape(written)
    return re.sub(r"\\(\n|[$`\"\\])", lambda char: char[1].strip("\n"), written).translate(QUOTED)


def _unescape(written: str) -> str:
    def replace_escape(escape: re.Match[str]) -> str:
        return "" if escape[1] == "\n" else escape[1].translate(QUOTED)

    return re.sub(r"\\(.)", replace_escape, written, flags=re.S)


def _split(value: str, quoted: bool) -> str:
    return value.translate(QUOTED) if quoted else re.sub(r"\s+", FIELD_END, value)


def _expand_variable(written: str, scope: Scope, quoted: bool) -> str | None:
    match = EXPANSION.fullmatch(written)
    if not match:
        return None
    counted, name, index, change = match.groups()
    values = scope.variable(name)
    if values is None or counted:
        return None
    if index not in ("@", "*") and name not in ("@", "*"):
        position = int(index) if index and index.isdigit() else 0
        values = values[position : position + 1] if not index or index.isdigit() else []
    changed = [transform_value(value, change) for value in values]
    if any(value is None for value in changed):
        return None
    return FIELD_END.join(_split(value, quoted) for value in changed if value is not None)


def transform_value(value: str, change: str) -> str | None:
    """Apply `${name%.py}` and similar, if the pattern is plain text or a glob."""
    if not change:
        return value
    if "$" in change or "`" in change:
        return None
    change = re.sub(r"[\"']", "", change)
    if match := re.fullmatch(r"(##?|%%?)(.*)", change, re.S):
        return _trim(value, match[1], match[2])
    if match := re.fullmatch(r"(//?)((?:\\.|[^/\\])+)(?:/(.*))?", change, re.S):
        pattern = "".join(_glob_piece(piece) for piece in _glob_pieces(_unescape(match[2])))
        return re.sub(pattern, lambda _: match[3] or "", value, count=0 if match[1] == "//" else 1)
    if change[0] in "-=" or change[:2] in (":-", ":="):
        return value if value or change[0] != ":" else change[2:]
    return {",,": value.lower(), "^^": value.upper()}.get(change)


def _trim(value: str, side: str, pattern: str) -> str:
    cuts = range(len(value) + 1)
    if side[0] == "#":
        for cut in cuts if side == "#" else reversed(cuts):
            if fnmatchcase(value[:cut], pattern):
                return value[cut:]
    else:
        for cut in reversed(cuts) if side == "%" else cuts:
            if fnmatchcase(value[cut:], pattern):
                return value[:cut]
    return value
