"""Of real sessions whose transcript is gone, the stored copy tells nearly all that happened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from holdfast.actions.kept_events import kept_events
from holdfast.index.database import IN_MEMORY, Index
from holdfast.index.fill import Source, fill
from holdfast.transcript.events import decode
from holdfast.transcript.model import Event
from holdfast.transcript.reader import whole_file
from holdfast.views.timeline import timeline

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
        for entry in timeline(events)
    )


def both(path: Path) -> tuple[Told, Told]:
    events = [*decode(whole_file(str(path)))]
    places = (event["place"].get("cwd", "") for event in events if event["kind"] == "place")
    root = next(filter(None, places), "")
    with Index(IN_MEMORY) as index:
        fill(index, Source("s", root, str(path)), 4e9)
        return told(events), told(kept_events(index, "s", root))


@pytest.mark.skipif(not SESSIONS, reason="the corpus of real sessions is not here")
def test_98_of_100_entries_are_told_alike_and_hardly_any_is_made_up() -> None:
    everything, alike, made_up = 0, 0, 0
    for path in SESSIONS:
        read, copied = both(path)
        everything += read.total()
        alike += (read & copied).total()
        made_up += (copied - read).total()
    assert everything > 500
    assert alike >= 0.98 * everything
    assert made_up <= 0.01 * everything
