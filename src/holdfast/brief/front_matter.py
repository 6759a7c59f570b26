"""Parses the front matter of command files: a small subset of YAML.

Maps, lists and scalars; anything else is ignored. Importing a YAML library would take a hook longer
than everything else it does.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FENCE = "---"


def parse_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """The front matter as a map, empty if there is none, and the text below it."""
    lines = text.lstrip("\ufeff").splitlines()
    if not lines or lines[0].strip() != FENCE:
        return {}, text
    for number, line in enumerate(lines[1:], 1):
        if line.strip() == FENCE:
            return _parse_map(lines[1:number], 0)[0], "\n".join(lines[number + 1 :])
    return {}, text


def to_text(value: Any) -> str:
    """The value if it is text, else nothing."""
    return value if isinstance(value, str) else ""


def to_list(value: Any) -> list[str]:
    """The texts of a list; a single text counts as a list of one."""
    if isinstance(value, list):
        return [text for text in value if isinstance(text, str) and text]
    return [value] if isinstance(value, str) and value else []


def _parse_map(lines: list[str], start: int) -> tuple[dict[str, Any], int]:
    """The map whose first key is at line `start`, and the line where it ends."""
    values: dict[str, Any] = {}
    depth: int | None = None
    while start < len(lines):
        line = lines[start]
        if not line.strip() or line.lstrip().startswith("#"):
            start += 1
            continue
        indent = _indent(line)
        if depth is not None and indent < depth:
            break
        key, colon, value = line.strip().partition(":")
        start += 1
        if not colon or line.lstrip().startswith("- ") or (depth is not None and indent > depth):
            continue
        depth = indent
        value = value.strip()
        if value and value not in ("|", ">", "|-", ">-"):
            values[key.strip()] = _parse_inline(value)
        else:
            values[key.strip()], start = _parse_block(lines, start, indent)
    return values, start


def _parse_block(lines: list[str], start: int, key_indent: int) -> tuple[Any, int]:
    """The value below a key, a list, a map or lines of text, and the line where it ends."""
    first = next((n for n in range(start, len(lines)) if lines[n].strip()), len(lines))
    if first == len(lines):
        return "", first
    is_list = lines[first].lstrip().startswith("-")
    if _indent(lines[first]) < key_indent + (not is_list):
        return "", first
    if is_list:
        return _parse_list(lines, first)
    if ":" in lines[first]:
        return _parse_map(lines, first)
    text = []
    while first < len(lines) and (not lines[first].strip() or _indent(lines[first]) > key_indent):
        text.append(lines[first].strip())
        first += 1
    return " ".join(part for part in text if part), first


def _parse_list(lines: list[str], start: int) -> tuple[list[str], int]:
    items: list[str] = []
    indent = _indent(lines[start])
    while start < len(lines):
        line = lines[start]
        text = line.strip()
        if text and (_indent(line) < indent or (_indent(line) == indent and text[0] != "-")):
            break
        if text.startswith("-") and _indent(line) == indent:
            items.append(_parse_scalar(text[1:].strip()))
        elif text and items:
            items[-1] = f"{items[-1]} {_parse_scalar(text)}".strip()
        start += 1
    return items, start


def _parse_inline(value: str) -> Any:
    if value.startswith("[") and value.endswith("]"):
        return [_parse_scalar(part.strip()) for part in value[1:-1].split(",") if part.strip()]
    return _parse_scalar(value)


def _parse_scalar(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1].replace('\\"', '"')
    return value.partition(" #")[0].rstrip()


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
