"""Find tool calls in a JavaScript program that an agent wrote instead of calling tools.

Only calls with literal arguments are understood:
`tools.exec_command({cmd: "make", workdir: "/x"})`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CALL_PREFIX = "tools."
SPACE = " \t\r\n"
MAX_CALLS, MAX_DEPTH = 50, 12
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
CONSTANTS = {"true": True, "false": False, "null": None, "undefined": None}


class _NotALiteral(ValueError):
    """The argument is an expression that only a JavaScript engine could evaluate."""


def find_calls(script: str) -> list[tuple[str, Any]]:
    """Return the name and the first argument of each call whose argument is a literal."""
    calls: list[tuple[str, Any]] = []
    at = script.find(CALL_PREFIX)
    while at >= 0 and len(calls) < MAX_CALLS:
        at = start = at + len(CALL_PREFIX)
        while script[at : at + 1].isalnum() or script[at : at + 1] == "_":
            at += 1
        if at > start and script[at : at + 1] == "(":
            try:
                value, _ = _parse_value(script, at + 1, MAX_DEPTH)
                calls.append((script[start:at], value))
            except _NotALiteral:
                pass
        at = script.find(CALL_PREFIX, at)
    return calls


# Each parser takes the text and a position, and returns the value with the position behind it.


def _parse_value(text: str, at: int, depth: int) -> tuple[Any, int]:
    at = _skip_space(text, at)
    char = text[at : at + 1]
    if char in ("{", "[") and depth:
        if char == "{":
            return _parse_object(text, at + 1, depth)
        return _parse_array(text, at + 1, depth)
    if char in ('"', "'", "`"):
        return _parse_string(text, at + 1, char)
    return _parse_constant(text, at)


def _skip_space(text: str, at: int) -> int:
    while text[at : at + 1] and text[at] in SPACE:
        at += 1
    return at


def _parse_object(text: str, at: int, depth: int) -> tuple[dict[str, Any], int]:
    fields: dict[str, Any] = {}
    while True:
        at = _skip_space(text, at)
        if text[at : at + 1] == "}":
            return fields, at + 1
        quote = text[at : at + 1]
        is_quoted = quote in ('"', "'")
        key, at = _parse_string(text, at + 1, quote) if is_quoted else _parse_key(text, at)
        at = _skip_space(text, at)
        if text[at : at + 1] != ":":
            raise _NotALiteral
        fields[key], at = _parse_value(text, at + 1, depth - 1)
        at = _skip_comma(text, at, "}")


def _parse_array(text: str, at: int, depth: int) -> tuple[list[Any], int]:
    values: list[Any] = []
    while True:
        at = _skip_space(text, at)
        if text[at : at + 1] == "]":
            return values, at + 1
        value, at = _parse_value(text, at, depth - 1)
        values.append(value)
        at = _skip_comma(text, at, "]")


def _skip_comma(text: str, at: int, end: str) -> int:
    """Move past a comma; without one the closing bracket must follow."""
    at = _skip_space(text, at)
    if text[at : at + 1] == ",":
        return at + 1
    if text[at : at + 1] != end:
        raise _NotALiteral
    return at


def _parse_string(text: str, at: int, quote: str) -> tuple[str, int]:
    parts: list[str] = []
    while (char := text[at : at + 1]) != quote:
        if not char or (quote == "`" and text.startswith("${", at)):
            raise _NotALiteral
        if char == "\\":
            char, at = _parse_escape(text, at + 1)
            parts.append(char)
            continue
        end = min(_find(text, quote, at), _find(text, "\\", at))
        if quote == "`":
            end = min(end, _find(text, "${", at))
        parts.append(text[at:end])
        at = end
    return "".join(parts), at + 1


def _find(text: str, part: str, at: int) -> int:
    """Like `str.find`, but the end of the text if the part is missing."""
    position = text.find(part, at)
    return position if position >= 0 else len(text)


def _parse_escape(text: str, at: int) -> tuple[str, int]:
    char = text[at : at + 1]
    digits = {"u": 4, "x": 2}.get(char, 0)
    if digits:
        try:
            return chr(int(text[at + 1 : at + 1 + digits], 16)), at + 1 + digits
        except ValueError:
            raise _NotALiteral from None
    return ESCAPES.get(char, char), at + 1


def _parse_key(text: str, at: int) -> tuple[str, int]:
    start = at
    while text[at : at + 1].isalnum() or text[at : at + 1] in ("_", "$"):
        at += 1
    if at == start:
        raise _NotALiteral
    return text[start:at], at


def _parse_constant(text: str, at: int) -> tuple[Any, int]:
    """A number, or a word such as `true`."""
    start = at
    while text[at : at + 1].isalnum() or text[at : at + 1] in ("_", ".", "-", "+"):
        at += 1
    word = text[start:at]
    if word in CONSTANTS:
        return CONSTANTS[word], at
    try:
        return (float(word) if "." in word else int(word.replace("_", ""))), at
    except ValueError:
        raise _NotALiteral from None
