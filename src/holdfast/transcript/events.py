"""Decode transcript lines into events, whatever a line may hold."""

from __future__ import annotations

import json

from holdfast.transcript import claude_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.transcript.model import Event

# Copies of whole requests that newer clients write: large, and nothing in them is new. Quotes
# inside a JSON string are escaped, so this cannot match in somebody's text.
NOISE = (b'"type":"api-request-blob"', b'"type":"api-request-shape"', b'"type":"api-request"')


def decode(numbered: Iterable[tuple[int, bytes]]) -> Iterator[Event]:
    """Events of transcript lines. A line that is not JSON is told as a `bad_line`."""
    place: dict[str, str] = {}
    for number, raw in numbered:
        if any(noise in raw for noise in NOISE) or not raw.strip():
            continue
        try:
            line = json.loads(raw.decode("utf-8", "replace").lstrip("\ufeff"))
        except (ValueError, RecursionError):
            yield {"kind": "bad_line", "line": number}
            continue
        if not isinstance(line, dict):
            yield {"kind": "bad_line", "line": number}
            continue
        found = claude_code.place(line)
        if found and found != place:
            place = found
            yield {"kind": "place", "line": number, "place": place}
        yield from claude_code.events(line, number)
