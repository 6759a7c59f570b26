"""Whether what is needed after a compaction is in the brief, or one lookup away.

An entity is a path, a name in code or an error that the agent uses after a compaction and that
stood in the transcript before it. It counts as recovered if the 1,000-token brief holds it, or if
one of the first three hits shows it: asked for by itself, or by the words around it.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from holdfast.actions.recall import at_ref, by_words
from holdfast.actions.refs import Ref
from holdfast.actions.transcript_file import state_of_file
from holdfast.brief.render import build
from holdfast.index import ids
from holdfast.index.database import IN_MEMORY, Index
from holdfast.index.fill import fill_from_file
from holdfast.transcript.events import decode
from holdfast.transcript.model import Event
from holdfast.transcript.reader import whole_file

BRIEF, BUDGET, TOP = 1000, 800, 3
# How far after a compaction an entity counts as needed.
AHEAD = 400
MOST = 60
ENTITY = re.compile(
    r"(?P<path>[\w.@~-]*(?:/[\w.@-]+)+\.\w{1,5}\b)"
    r"|(?P<error>\b[A-Z]\w*(?:Error|Exception): [^\n\"\\]{8,60})"
    r"|(?P<name>\b(?:[a-z]+_[a-z0-9_]{4,}|[a-z]+(?:[A-Z][a-z0-9]+)+|(?:[A-Z][a-z0-9]+){2,})\b)"
)


class Tried(NamedTuple):
    """What became of one entity."""

    text: str
    kind: str
    in_brief: bool
    by_itself: bool
    by_neighbours: bool
    by_ref: bool

    @property
    def recovered(self) -> bool:
        return self.in_brief or self.by_itself or self.by_neighbours


def of_session(path: str, folder: Path, seed: int = 7) -> Iterator[Tried]:
    """Every sampled entity at every compaction of one transcript."""
    lines = [*whole_file(path)]
    events = [*decode(lines)]
    for cut in (event["line"] for event in events if event["kind"] == "summary"):
        before = [event for event in events if event["line"] < cut - 1]
        after = [event for event in events if cut < event["line"] <= cut + AHEAD]
        needed = _needed(before, after)
        sample = random.Random(seed).sample(needed, min(MOST, len(needed)))
        file = folder / f"{cut}.jsonl"
        file.write_bytes(b"".join(raw + b"\n" for number, raw in lines if number < cut - 1))
        yield from _tried(str(file), sample)


def _needed(before: list[Event], after: list[Event]) -> list[tuple[str, str, int, str]]:
    """What the agent itself uses later: kind, text, the line it stood in, and its neighbours."""
    known = [(event["line"], _text(event)) for event in before]
    whole = "\n".join(text for _, text in known)
    found = {}
    for event in after:
        if event["kind"] not in ("tool_call", "reply"):
            continue
        for match in ENTITY.finditer(_text(event)):
            text = match[0].strip()
            if text in whole and text not in found:
                line, there = next((n, t) for n, t in reversed(known) if text in t)
                found[text] = (str(match.lastgroup), text, line, _neighbours(there, text))
    return [*found.values()]


def _text(event: Event) -> str:
    if event["kind"] == "tool_call":
        return "\n".join(
            value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            for value in event["input"].values()
        )
    return event.get("text", "")


def _neighbours(text: str, entity: str) -> str:
    """The words around an entity, without it, as somebody would remember them."""
    at = text.find(entity)
    before = re.findall(r"[A-Za-z]{3,}", text[max(0, at - 120) : at])[-4:]
    after = re.findall(r"[A-Za-z]{3,}", text[at + len(entity) : at + len(entity) + 120])[:4]
    return " ".join(before + after)


def _tried(file: str, sample: list[tuple[str, str, int, str]]) -> Iterator[Tried]:
    brief = build(state_of_file(file), tokens=BRIEF, characters=9500).text
    with Index(IN_MEMORY) as index:
        fill_from_file(index, file)
        for kind, text, line, around in sample:
            yield Tried(
                text=text,
                kind=kind,
                in_brief=text in brief,
                by_itself=_shows(index, text, text),
                by_neighbours=bool(around) and _shows(index, around, text),
                by_ref=_opens(file, line, text),
            )


def _shows(index: Index, query: str, text: str) -> bool:
    hits = by_words(index, query, ids.EVERYTHING, BUDGET).hits
    return any(text in hit.text for hit in hits[:TOP])


def _opens(file: str, line: int, text: str) -> bool:
    hits = at_ref(None, "", file, Ref("", line, line), 1_000_000).hits
    return any(text in hit.text for hit in hits)
