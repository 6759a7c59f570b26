"""Ingesting a transcript resumes after the lines that any process has saved."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.demo import append_lines, load_demo
from holdfast.errors import StoreUnavailable
from holdfast.hosts.hook_event import HookEvent
from holdfast.services.compaction.ingest import MAX_SAVE_ATTEMPTS, ingest_transcript
from holdfast.state.fold import advance, new_state
from holdfast.state.types import State
from holdfast.store.sqlite import SQLiteStore
from holdfast.transcript.decoder import decode
from holdfast.transcript.reader import read_lines

DEMO = load_demo("/srv/courier", "s1", 1_760_000_000.0)


@pytest.fixture
def event(tmp_path: Path) -> HookEvent:
    path = str(tmp_path / "s1.jsonl")
    return HookEvent(
        host="claude-code", name="Stop", session_id="s1", transcript_path=path, cwd="/srv"
    )


class ContendedStore(SQLiteStore):
    """A store in which another process always gets the write lock first."""

    before_lock: Callable[[], None]

    def begin(self) -> None:
        self.before_lock()
        super().begin()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ContendedStore]:
    with closing(ContendedStore(str(tmp_path / "home" / "holdfast.db"))) as store:
        yield store


def fold_transcript(path: str) -> State:
    state = new_state()
    advance(state, decode(read_lines(path)))
    return state


def ingest_in_another_process(event: HookEvent, store: SQLiteStore) -> None:
    with closing(SQLiteStore(store.path)) as other:
        ingest_transcript(other, event, 2.0)
        other.commit()


@pytest.mark.parametrize("has_session", [False, True])
def test_ingest_resumes_after_the_lines_that_another_process_saved(
    event: HookEvent, store: ContendedStore, has_session: bool
) -> None:
    """The other process saves some lines first, and the host then writes the rest."""
    parts = [DEMO.before[:50], DEMO.before[50:120], DEMO.before[120:]]
    store.before_lock = lambda: None
    if has_session:
        append_lines(event.transcript_path, parts.pop(0))
        ingest_transcript(store, event, 1.0)
        store.commit()
    append_lines(event.transcript_path, parts.pop(0))

    def save_first() -> None:
        if parts:
            ingest_in_another_process(event, store)
            append_lines(event.transcript_path, parts.pop())

    store.before_lock = save_first
    session = ingest_transcript(store, event, 3.0)
    store.commit()
    row = store.session("s1")
    assert row is not None
    assert row["state"] == session.state == fold_transcript(event.transcript_path)


def test_ingest_gives_up_after_repeated_conflicts(event: HookEvent, store: ContendedStore) -> None:
    lines = iter(DEMO.before)
    append_lines(event.transcript_path, [next(lines)])

    def save_first() -> None:
        ingest_in_another_process(event, store)
        append_lines(event.transcript_path, [next(lines)])

    store.before_lock = save_first
    with pytest.raises(StoreUnavailable, match="too many processes"):
        ingest_transcript(store, event, 1.0)
    row = store.session("s1")
    assert row is not None
    assert row["revision"] == MAX_SAVE_ATTEMPTS, "the rows of the other process are kept"
