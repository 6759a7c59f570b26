"""Look up what is not in the brief: a line by its number, or lines by their words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from holdfast.brief.tokens import cost
from holdfast.errors import NoSuchRecord
from holdfast.redact import redact
from holdfast.state.wording import words
from holdfast.transcript.events import decode
from holdfast.transcript.model import Event
from holdfast.transcript.reader import whole_file

REF = re.compile(r"^L(\d+)(?:-L?(\d+))?$")
AROUND = 200
WHOLE_LINE = 4000


class Hit(NamedTuple):
    line: int
    kind: str
    text: str


def recall(transcript: str, query: str, max_tokens: int) -> list[Hit]:
    """The best hits that fit; a ref gives exactly its lines."""
    asked = REF.match(query.strip())
    if asked:
        first = int(asked[1])
        return _fitting(_lines(transcript, first, int(asked[2] or first), query), max_tokens)
    return _fitting(_search(transcript, query), max_tokens)


def _lines(transcript: str, first: int, last: int, query: str) -> list[Hit]:
    hits = []
    for number, raw in whole_file(transcript, last):
        if number < first:
            continue
        told = [*_hits(decode([(number, raw)]))]
        hits += told or [Hit(number, "line", raw.decode("utf-8", "replace"))]
    if not hits:
        raise NoSuchRecord(f"{transcript} has no line {query}")
    return [Hit(hit.line, hit.kind, redact(hit.text[:WHOLE_LINE])) for hit in hits]


def _search(transcript: str, query: str) -> list[Hit]:
    wanted = [word for word in words(query).split() if word]
    if not wanted:
        return []
    phrase = query.strip().lower()
    scored: list[tuple[float, Hit]] = []
    for hit in _hits(decode(whole_file(transcript))):
        low = hit.text.lower()
        found = [word for word in wanted if word in low]
        if not found:
            continue
        score = len(found) / len(wanted) + (1 if phrase in low else 0)
        # The user's words and what the agent said weigh more than a file that was printed.
        score += 0.3 if hit.kind in ("prompt", "reply") else 0
        scored.append((score + hit.line * 1e-9, _around(hit, phrase, found)))
    scored.sort(key=lambda entry: -entry[0])
    return [hit for _, hit in scored[:50]]


def _around(hit: Hit, phrase: str, found: list[str]) -> Hit:
    """The text around the place that matches."""
    low = hit.text.lower()
    at = low.find(phrase)
    at = at if at >= 0 else low.find(max(found, key=len))
    start, end = max(0, at - AROUND), at + AROUND + len(phrase)
    lead, tail = "…" if start else "", "…" if end < len(hit.text) else ""
    return Hit(hit.line, hit.kind, lead + redact(hit.text[start:end]).strip() + tail)


def _hits(events: Iterator[Event]) -> Iterator[Hit]:
    for event in events:
        text = event.get("text", "")
        if event["kind"] == "tool_call":
            text = f"{event['name']} {_readable(event['input'])}"
        if text:
            yield Hit(event["line"], event["kind"], text)


def _readable(given: dict[str, Any]) -> str:
    if list(given) in (["command"], ["command", "description"]):
        return str(given["command"])
    return json.dumps(given, ensure_ascii=False)


def _fitting(hits: list[Hit], max_tokens: int) -> list[Hit]:
    """As many as the budget holds; the first is cut rather than left out."""
    room = float(max_tokens)
    kept: list[Hit] = []
    for hit in hits:
        needed = cost(hit.text) + 8
        if needed > room and not kept:
            hit = Hit(hit.line, hit.kind, hit.text[: max(80, int(2 * room))] + "…")
        elif needed > room:
            break
        kept.append(hit)
        room -= needed
    return kept
