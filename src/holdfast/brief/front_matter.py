"""The few shapes of YAML that stand at the top of command files.

Maps, lists and words; anything else is passed over. A YAML library would cost a hook more than
all the rest of it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FENCE = "---"


def parse(text: str) -> tuple[dict[str, Any], str]:
    """The front matter and what follows it."""
    lines = text.lstrip("\ufeff").splitlines()
    if not lines or lines[0].strip() != FENCE:
        return {}, text
    for number, line in enumerate(lines[1:], 1):
        if line.strip() == FENCE:
            return _map(lines[1:number], 0)[0], "\n".join(lines[number + 1 :])
    return {}, text


def word(value: Any) -> str:
    return value if isinstance(value, str) else ""


def listed(value: Any) -> list[str]:
    """A list, or what stands alone in the place of one."""
    if isinstance(value, list):
        return [one for one in value if isinstance(one, str) and one]
    return [value] if isinstance(value, str) and value else []


def _map(lines: list[str], start: int) -> tuple[dict[str, Any], int]:
    """The map whose first key is at `start`, and where it ends."""
    found: dict[str, Any] = {}
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
            found[key.strip()] = _inline(value)
        else:
            found[key.strip()], start = _block(lines, start, indent)
    return found, start


def _block(lines: list[str], start: int, above: int) -> tuple[Any, int]:
    """What stands below a key: a list, a map, or lines of text."""
    first = next((n for n in range(start, len(lines)) if lines[n].strip()), len(lines))
    if first == len(lines):
        return "", first
    is_list = lines[first].lstrip().startswith("-")
    if _indent(lines[first]) < above + (not is_list):
        return "", first
    if is_list:
        return _list(lines, first)
    if ":" in lines[first]:
        return _map(lines, first)
    text = []
    while first < len(lines) and (not lines[first].strip() or _indent(lines[first]) > above):
        text.append(lines[first].strip())
        first += 1
    return " ".join(part for part in text if part), first


def _list(lines: list[str], start: int) -> tuple[list[str], int]:
    found: list[str] = []
    indent = _indent(lines[start])
    while start < len(lines):
        line = lines[start]
        text = line.strip()
        if text and (_indent(line) < indent or (_indent(line) == indent and text[0] != "-")):
            break
        if text.startswith("-") and _indent(line) == indent:
            found.append(_plain(text[1:].strip()))
        elif text and found:
            found[-1] = f"{found[-1]} {_plain(text)}".strip()
        start += 1
    return found, start


def _inline(value: str) -> Any:
    if value.startswith("[") and value.endswith("]"):
        return [_plain(part.strip()) for part in value[1:-1].split(",") if part.strip()]
    return _plain(value)


def _plain(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1].replace('\\"', '"')
    return value.partition(" #")[0].rstrip()


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
