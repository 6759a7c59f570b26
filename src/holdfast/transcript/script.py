"""The tool calls inside a script, where an agent writes JavaScript instead of calling tools.

Only calls with plain values are understood: `tools.exec_command({cmd: "make", workdir: "/x"})`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CALL = "tools."
SPACE = " \t\r\n"
MOST, DEEPEST = 50, 12
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
WORDS = {"true": True, "false": False, "null": None, "undefined": None}


class _Unknown(ValueError):
    """Something that is not a plain value."""


def calls(script: str) -> list[tuple[str, Any]]:
    """The name and the first argument of each call whose argument is a plain value."""
    found: list[tuple[str, Any]] = []
    at = script.find(CALL)
    while at >= 0 and len(found) < MOST:
        at = start = at + len(CALL)
        while script[at : at + 1].isalnum() or script[at : at + 1] == "_":
            at += 1
        if at > start and script[at : at + 1] == "(":
            try:
                value, _ = _value(script, at + 1, DEEPEST)
                found.append((script[start:at], value))
            except _Unknown:
                pass
        at = script.find(CALL, at)
    return found


def _skip(text: str, at: int) -> int:
    while text[at : at + 1] and text[at] in SPACE:
        at += 1
    return at


def _value(text: str, at: int, depth: int) -> tuple[Any, int]:
    """The value that begins here, and where it ends."""
    at = _skip(text, at)
    sign = text[at : at + 1]
    if sign in ("{", "[") and depth:
        return _object(text, at + 1, depth) if sign == "{" else _array(text, at + 1, depth)
    if sign in ('"', "'", "`"):
        return _string(text, at + 1, sign)
    return _word(text, at)


def _object(text: str, at: int, depth: int) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    while True:
        at = _skip(text, at)
        if text[at : at + 1] == "}":
            return found, at + 1
        sign = text[at : at + 1]
        key, at = _string(text, at + 1, sign) if sign in ('"', "'") else _name(text, at)
        at = _skip(text, at)
        if text[at : at + 1] != ":":
            raise _Unknown
        found[key], at = _value(text, at + 1, depth - 1)
        at = _after(text, at, "}")


def _array(text: str, at: int, depth: int) -> tuple[list[Any], int]:
    found: list[Any] = []
    while True:
        at = _skip(text, at)
        if text[at : at + 1] == "]":
            return found, at + 1
        value, at = _value(text, at, depth - 1)
        found.append(value)
        at = _after(text, at, "]")


def _after(text: str, at: int, end: str) -> int:
    """Past the comma, if there is one."""
    at = _skip(text, at)
    if text[at : at + 1] == ",":
        return at + 1
    if text[at : at + 1] != end:
        raise _Unknown
    return at


def _string(text: str, at: int, quote: str) -> tuple[str, int]:
    parts: list[str] = []
    while (sign := text[at : at + 1]) != quote:
        if not sign or (quote == "`" and text.startswith("${", at)):
            raise _Unknown
        if sign == "\\":
            sign, at = _escaped(text, at + 1)
            parts.append(sign)
            continue
        end = min(_find(text, quote, at), _find(text, "\\", at))
        if quote == "`":
            end = min(end, _find(text, "${", at))
        parts.append(text[at:end])
        at = end
    return "".join(parts), at + 1


def _find(text: str, sign: str, at: int) -> int:
    found = text.find(sign, at)
    return found if found >= 0 else len(text)


def _escaped(text: str, at: int) -> tuple[str, int]:
    sign = text[at : at + 1]
    length = {"u": 4, "x": 2}.get(sign, 0)
    if length:
        try:
            return chr(int(text[at + 1 : at + 1 + length], 16)), at + 1 + length
        except ValueError:
            raise _Unknown from None
    return ESCAPES.get(sign, sign), at + 1


def _name(text: str, at: int) -> tuple[str, int]:
    start = at
    while text[at : at + 1].isalnum() or text[at : at + 1] in ("_", "$"):
        at += 1
    if at == start:
        raise _Unknown
    return text[start:at], at


def _word(text: str, at: int) -> tuple[Any, int]:
    """A number, or one of the words that are values."""
    start = at
    while text[at : at + 1].isalnum() or text[at : at + 1] in ("_", ".", "-", "+"):
        at += 1
    word = text[start:at]
    if word in WORDS:
        return WORDS[word], at
    try:
        return (float(word) if "." in word else int(word.replace("_", ""))), at
    except ValueError:
        raise _Unknown from None
