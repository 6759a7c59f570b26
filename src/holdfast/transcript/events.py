"""Decode transcript lines into events, whatever a line may hold."""

from __future__ import annotations

from holdfast import quick_json
from holdfast.transcript import claude_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from holdfast.transcript.model import Event

# Copies of whole requests that newer clients write: large, and nothing in them is new.
NOISE = b'{"type":"api-request'


def decode(numbered: Iterable[tuple[int, bytes]]) -> Iterator[Event]:
    """Events of transcript lines. A line that is not JSON is told as a `bad_line`."""
    place: dict[str, str] = {}
    for number, raw in numbered:
        if raw.startswith(NOISE) or not raw.strip():
            continue
        line = _parsed(raw.decode("utf-8", "replace").lstrip("\ufeff"))
        if not isinstance(line, dict):
            yield {"kind": "bad_line", "line": number}
            continue
        found = claude_code.place(line)
        if found and found != place:
            place = found
            yield {"kind": "place", "line": number, "place": place}
        yield from claude_code.events(line, number)


def _parsed(text: str) -> Any:
    """The value of a line, or None."""
    try:
        return quick_json.loads(text)
    except RecursionError:
        return None
    except ValueError:
        return _mended(text)


def _mended(text: str) -> Any:
    """A line in which only escapes are broken is still worth reading.

    Tools that mask secrets in published transcripts cut through `\\n` and `\\u1234`.
    """
    import re

    try:
        return quick_json.loads(re.sub(r'\\(?:\\|(?!["/bfnrt]|u[0-9a-fA-F]{4}))', r"\\\\", text))
    except (ValueError, RecursionError):
        return None
