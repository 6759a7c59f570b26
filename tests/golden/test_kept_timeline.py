"""The timeline from the search index, compared with the timeline from the transcript."""

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
MAX_FILE_BYTES = 600_000
SESSIONS = sorted(
    path
    for path in (CORPUS.glob("*.jsonl.gz") if CORPUS.is_dir() else ())
    if "agent-" not in path.name and path.stat().st_size < MAX_FILE_BYTES
)

EntryCounts = Counter[tuple[str, str, bool | None]]


def count_entries(events: Iterable[Event]) -> EntryCounts:
    """Count equal entries; the index does not store the size of a compaction."""
    return Counter(
        (entry.kind, "" if entry.kind == "compaction" else entry.text, entry.ok)
        for entry in build_timeline(events)
    )


def count_in_transcript_and_index(path: Path) -> tuple[EntryCounts, EntryCounts]:
    events = [*decode(read_lines(str(path)))]
    folders = (event["place"].get("cwd", "") for event in events if event["kind"] == "place")
    root = next(filter(None, folders), "")
    with SearchIndex(IN_MEMORY) as index:
        ingest_transcript(index, Source("s", root, str(path)), 4e9)
        return count_entries(events), count_entries(load_indexed_events(index, "s", root))


@pytest.mark.skipif(not SESSIONS, reason="the corpus of real sessions is not here")
@pytest.mark.parametrize("sessions", some_and_all(SESSIONS))
def test_the_index_keeps_98_percent_of_the_timeline_and_adds_at_most_1_percent(
    sessions: list[Path],
) -> None:
    total, same, added = 0, 0, 0
    for path in sessions:
        from_transcript, from_index = count_in_transcript_and_index(path)
        total += from_transcript.total()
        same += (from_transcript & from_index).total()
        added += (from_index - from_transcript).total()
    assert total > 24 * len(sessions)
    assert same >= 0.98 * total
    assert added <= 0.01 * total
