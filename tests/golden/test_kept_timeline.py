"""Of real sessions whose transcript is gone, the stored copy tells nearly all that happened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from holdfast.reports.timeline import build_timeline
from holdfast.search.index_db import IN_MEMORY, SearchIndex
from holdfast.search.ingest import Source, ingest_transcript
from holdfast.services.recall.indexed_events import load_indexed_events
from holdfast.transcript.decoder import decode
from holdfast.transcript.reader import read_lines
from holdfast.transcript.types import Event
from tests.golden.corpus import some_and_all

CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus"
LARGEST = 600_000
SESSIONS = sorted(
    path
    for path in (CORPUS.glob("*.jsonl.gz") if CORPUS.is_dir() else ())
    if "agent-" not in path.name and path.stat().st_size < LARGEST
)

Told = Counter[tuple[str, str, bool | None]]


def told(events: Iterable[Event]) -> Told:
    """How often each thing happened; of a compaction the copy does not know its size."""
    return Counter(
        (entry.kind, "" if entry.kind == "compaction" else entry.text, entry.ok)
        for entry in build_timeline(events)
    )


def both(path: Path) -> tuple[Told, Told]:
    events = [*decode(read_lines(str(path)))]
    places = (event["place"].get("cwd", "") for event in events if event["kind"] == "place")
    root = next(filter(None, places), "")
    with SearchIndex(IN_MEMORY) as index:
        ingest_transcript(index, Source("s", root, str(path)), 4e9)
        return told(events), told(load_indexed_events(index, "s", root))


@pytest.mark.skipif(not SESSIONS, reason="the corpus of real sessions is not here")
@pytest.mark.parametrize("sessions", some_and_all(SESSIONS))
def test_98_of_100_entries_are_told_alike_and_hardly_any_is_made_up(sessions: list[Path]) -> None:
    everything, alike, made_up = 0, 0, 0
    for path in sessions:
        read, copied = both(path)
        everything += read.total()
        alike += (read & copied).total()
        made_up += (copied - read).total()
    assert everything > 24 * len(sessions)
    assert alike >= 0.98 * everything
    assert made_up <= 0.01 * everything
