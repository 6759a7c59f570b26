"""Look up what is not in the brief: a line by its number, or lines by their words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from math import log
from typing import Any, NamedTuple

from holdfast.brief.tokens import cost
from holdfast.errors import NoSuchRecord
from holdfast.redact import redact
from holdfast.state.wording import words
from holdfast.transcript.events import decode
from holdfast.transcript.model import Event
from holdfast.transcript.reader import whole_file

# As it stands in a brief, with or without its parentheses.
REF = re.compile(r"\(?[Ll](\d{1,9})(?:\s*[-–]\s*[Ll]?(\d{1,9}))?\)?", re.ASCII)
AROUND = 200
MOST_HITS = 50
MOST_WORDS = 30
# What the user and the agent said weighs more than a file that was printed; a summary, or a
# brief of ours, only repeats what stands elsewhere.
WEIGHT = {"prompt": 0.3, "reply": 0.3, "summary": -0.3, "injected": -0.3}


class Hit(NamedTuple):
    line: int
    kind: str
    text: str


class Recalled(NamedTuple):
    hits: list[Hit]
    left_out: int
    """How many more there are that the budget does not hold."""


def recall(transcript: str, query: str, max_tokens: int) -> Recalled:
    """The best hits that fit, without secrets; a ref gives exactly its lines."""
    asked = REF.fullmatch(query.strip())
    if asked:
        first = int(asked[1])
        return _fitting(_lines(transcript, first, int(asked[2] or first)), max_tokens)
    return _fitting(_search(transcript, query), max_tokens)


def printed(hit: Hit) -> str:
    """A hit as an agent is shown it; the budget is counted on this."""
    return f"L{hit.line} {hit.kind}\n{hit.text}\n"


def _lines(transcript: str, first: int, last: int) -> list[Hit]:
    hits: list[Hit] = []
    count = 0
    for number, raw in whole_file(transcript, last):
        count = number
        if number >= first:
            told = [*_hits(decode([(number, raw)]))]
            hits += told or [Hit(number, "line", redact(raw.decode("utf-8", "replace")))]
    if not hits:
        asked = f"line L{first}" if last == first else f"lines L{first}-{last}"
        raise NoSuchRecord(f"{transcript} has no {asked}", hint=f"lines L1 to L{count} were read")
    return hits


def _search(transcript: str, query: str) -> list[Hit]:
    phrase = query.strip().lower()
    wanted = [*dict.fromkeys(words(query).split())][:MOST_WORDS] or [phrase]
    found = []
    for hit in _hits(decode(whole_file(transcript))):
        low = hit.text.lower()
        there = frozenset(word for word in wanted if word in low)
        if there:
            found.append((hit, there, phrase in low))
    weights = _weights(wanted, [there for _, there, _ in found])
    scored = [
        (
            sum(weights[word] for word in there) + exact + WEIGHT.get(hit.kind, 0.0),
            hit.line,
            _around(hit, phrase, max(there, key=lambda word: (weights[word], word))),
        )
        for hit, there, exact in found
    ]
    scored.sort(key=lambda entry: entry[:2], reverse=True)
    return [hit for _, _, hit in scored[:MOST_HITS]]


def _weights(wanted: list[str], found: list[frozenset[str]]) -> dict[str, float]:
    """What each word counts, one in all: a word that stands in every line tells little."""
    rarity = {
        word: log(1 + len(found) / (1 + sum(word in there for there in found))) for word in wanted
    }
    whole = sum(rarity.values())
    return {word: value / whole if whole else 0.0 for word, value in rarity.items()}


def _around(hit: Hit, phrase: str, word: str) -> Hit:
    """The text around the place that matches."""
    low = hit.text.lower()
    at = low.find(phrase)
    at, length = (at, len(phrase)) if at >= 0 else (low.find(word), len(word))
    start, end = max(0, at - AROUND), at + length + AROUND
    lead, tail = "…" if start else "", "…" if end < len(hit.text) else ""
    return Hit(hit.line, hit.kind, lead + hit.text[start:end].strip() + tail)


def _hits(events: Iterable[Event]) -> Iterator[Hit]:
    """Redacted before anything is searched or cut: half a secret would not be known as one."""
    for event in events:
        text = event.get("text", "")
        if event["kind"] == "tool_call":
            text = f"{event['name']} {_readable(event['input'])}"
        if text:
            yield Hit(event["line"], event["kind"], redact(text))


def _readable(given: dict[str, Any]) -> str:
    if list(given) in (["command"], ["command", "description"]):
        return str(given["command"])
    return json.dumps(given, ensure_ascii=False)


def _fitting(hits: list[Hit], max_tokens: int) -> Recalled:
    """As many as the budget holds; the first is cut rather than left out."""
    room = float(max_tokens)
    kept: list[Hit] = []
    for hit in hits:
        if cost(printed(hit)) > room:
            if kept:
                break
            hit = _cut(hit, room)
        kept.append(hit)
        room -= cost(printed(hit))
    return Recalled(kept, len(hits) - len(kept))


def _cut(hit: Hit, room: float) -> Hit:
    """No longer than the room; of a budget for nothing at least the reference is left."""
    length = min(len(hit.text), int(4 * room))
    while length:
        shorter = Hit(hit.line, hit.kind, hit.text[:length].rstrip() + "…")
        if cost(printed(shorter)) <= room:
            return shorter
        length = length * 9 // 10
    return Hit(hit.line, hit.kind, "…")
