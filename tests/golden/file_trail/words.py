"""What the words of a command stand for: quotes, variables, braces and globs resolved.

A word whose value cannot be known is None. While a word is worked on, characters that quotes
made ordinary are kept apart from live ones by moving them into a private range of Unicode.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import Protocol

from tree_sitter import Node

from tests.golden.file_trail.braces import braced

LIVE = "*?[]{},\\ \t\n"
QUOTED = {ord(char): 0xE000 + ord(char) for char in LIVE}
UNQUOTED = {0xE000 + ord(char): char for char in LIVE}
FIELD_END = "\ue100"
UNUSUAL = re.compile(r"[^\t\n\r\x20-\x7e]")
SPELLED = re.compile(r"\x01([0-9a-f]+)\x02")
PLAIN = {"word", "number", "extglob_pattern", "regex", "brace_expression", "variable_name"}
EXPANSION = re.compile(r"\$\{?(#?)(\w+|[@*#?$!-])(?:\[([^\]]*)\])?(.*?)\}?$", re.S)
ANSI = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f"}


def in_ascii(command: str) -> str:
    """The command as the parser gets it, any unusual character spelled out.

    tree-sitter-bash 0.25 asks C's ctype tables about every character after `{`, and reads far
    past their end for high ones: `O{` and U+DEF9F end the process.
    """
    return UNUSUAL.sub(lambda char: f"\x01{ord(char[0]):x}\x02", command)


def source(node: Node) -> str:
    """The node's text as it was written."""
    return _decoded(node.text or b"")


def _decoded(text: bytes) -> str:
    return SPELLED.sub(lambda code: chr(int(code[1], 16)), text.decode("ascii", "replace"))


class Scope(Protocol):
    """What a word needs to know of the shell it stands in."""

    def variable(self, name: str) -> list[str] | None: ...

    def substituted(self, node: Node) -> str | None: ...

    def matching(self, pattern: str) -> list[str]: ...


def fields(node: Node, scope: Scope) -> list[str | None]:
    """The arguments that one word becomes: none, one or several; [None] if it cannot be known."""
    raw = _raw(node, scope)
    if raw is None:
        return [None]
    quoted = any(child.type in ("string", "raw_string") for child in (node, *node.children))
    found: list[str | None] = []
    for text in braced(raw):
        for part in text.split(FIELD_END):
            if part or quoted:
                found += _globbed(part, scope)
    return found


def _globbed(part: str, scope: Scope) -> list[str]:
    if not re.search(r"[*?\[]", part):
        return [plain(part)]
    # `app/[id]/page.tsx` is a name far more often than a pattern; bash keeps what matches nothing.
    return scope.matching(part) or ([] if re.search(r"[*?]", part) else [plain(part)])


def one(node: Node, scope: Scope) -> str | None:
    """A word where the shell neither splits nor globs: an assignment, a `case` subject."""
    raw = _raw(node, scope)
    return None if raw is None else plain(raw.replace(FIELD_END, " "))


def plain(text: str) -> str:
    return text.translate(UNQUOTED)


def glob_pattern(text: str) -> re.Pattern[str]:
    """A pattern for whole paths: a star stays within its folder and skips hidden names."""
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
        return _glob_set(plain(piece[1:-1])) or re.escape(plain(piece))
    return re.escape(plain(piece))


def _glob_set(inside: str) -> str:
    """`[a-z]` as a regular expression; empty if it is no set that makes sense."""
    turned = inside[0] in "!^"
    escaped = re.sub(r"([^\w-])", r"\\\1", inside[1:] if turned else inside)
    pattern = f"[{'^' if turned else ''}{escaped}]"
    try:
        return "" if "--" in escaped else re.compile(pattern).pattern
    except re.error:
        return ""


def _raw(node: Node, scope: Scope, quoted: bool = False) -> str | None:
    written, kind = source(node), node.type
    if kind in PLAIN:
        return _unescaped(written)
    if kind == "raw_string":
        return written[1:-1].translate(QUOTED)
    if kind == "ansi_c_string":
        return re.sub(r"\\(.)", lambda char: ANSI.get(char[1], char[1]), written[2:-1]).translate(
            QUOTED
        )
    if kind in ("simple_expansion", "expansion"):
        return _expanded(written, scope, quoted)
    if kind in ("command_substitution", "process_substitution"):
        value = scope.substituted(node)
        return None if value is None else _split(value, quoted)
    if kind in ("string", "concatenation", "translated_string", "command_name"):
        return _joined(node, scope, quoted or kind == "string")
    return None if node.child_count else written


def _joined(node: Node, scope: Scope, quoted: bool) -> str | None:
    """The children's values, and between them what the parser gave no node: plain text."""
    text, parts, at = node.text or b"", [], 0
    for child in node.children:
        begin, end = child.start_byte - node.start_byte, child.end_byte - node.start_byte
        parts.append(_literal(text[at:begin], quoted))
        at = end
        if child.type == "string_content" or not child.is_named:
            parts.append("" if child.type == '"' else _literal(text[begin:end], quoted))
            continue
        value = _raw(child, scope, quoted)
        if value is None:
            return None
        parts.append(value)
    return "".join(parts) + _literal(text[at:], quoted)


def _literal(text: bytes, quoted: bool) -> str:
    written = _decoded(text)
    if not quoted:
        return _unescaped(written)
    return re.sub(r"\\(\n|[$`\"\\])", lambda char: char[1].strip("\n"), written).translate(QUOTED)


def _unescaped(written: str) -> str:
    def ordinary(escape: re.Match[str]) -> str:
        return "" if escape[1] == "\n" else escape[1].translate(QUOTED)

    return re.sub(r"\\(.)", ordinary, written, flags=re.S)


def _split(value: str, quoted: bool) -> str:
    return value.translate(QUOTED) if quoted else re.sub(r"\s+", FIELD_END, value)


def _expanded(written: str, scope: Scope, quoted: bool) -> str | None:
    found = EXPANSION.fullmatch(written)
    if not found:
        return None
    counted, name, index, change = found.groups()
    values = scope.variable(name)
    if values is None or counted:
        return None
    if index not in ("@", "*") and name not in ("@", "*"):
        at = int(index) if index and index.isdigit() else 0
        values = values[at : at + 1] if not index or index.isdigit() else []
    changed = [changed_value(value, change) for value in values]
    if any(value is None for value in changed):
        return None
    return FIELD_END.join(_split(value, quoted) for value in changed if value is not None)


def changed_value(value: str, change: str) -> str | None:
    """`${name%.py}` and its kin, as far as their patterns are plain text and globs."""
    if not change:
        return value
    if "$" in change or "`" in change:
        return None
    change = re.sub(r"[\"']", "", change)
    if found := re.fullmatch(r"(##?|%%?)(.*)", change, re.S):
        return _trimmed(value, found[1], found[2])
    if found := re.fullmatch(r"(//?)((?:\\.|[^/\\])+)(?:/(.*))?", change, re.S):
        pattern = "".join(_glob_piece(each) for each in _glob_pieces(_unescaped(found[2])))
        return re.sub(pattern, lambda _: found[3] or "", value, count=0 if found[1] == "//" else 1)
    if change[0] in "-=" or change[:2] in (":-", ":="):
        return value if value or change[0] != ":" else change[2:]
    return {",,": value.lower(), "^^": value.upper()}.get(change)


def _trimmed(value: str, side: str, pattern: str) -> str:
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
