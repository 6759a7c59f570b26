"""Ingest continues where the last process stopped."""

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

MADE = load_demo("/srv/courier", "s1", 1_760_000_000.0)


@pytest.fixture
def call(tmp_path: Path) -> HookEvent:
    path = str(tmp_path / "s1.jsonl")
    return HookEvent(
        host="claude-code", name="Stop", session_id="s1", transcript_path=path, cwd="/srv"
    )


class Overtaken(SQLiteStore):
    """A store in which another process always gets the write lock first."""

    overtake: Callable[[], None]

    def begin(self) -> None:
        self.overtake()
        super().begin()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Overtaken]:
    with closing(Overtaken(str(tmp_path / "home" / "holdfast.db"))) as opened:
        yield opened


def folded(path: str) -> State:
    state = new_state()
    advance(state, decode(read_lines(path)))
    return state


def saved_by_another(call: HookEvent, store: SQLiteStore) -> None:
    with closing(SQLiteStore(store.path)) as other:
        ingest_transcript(other, call, 2.0)
        other.commit()


@pytest.mark.parametrize("known", [False, True])
def test_ingest_continues_from_what_another_process_saved(
    call: HookEvent, store: Overtaken, known: bool
) -> None:
    """The other process sees some lines and saves first; the rest arrives just after that."""
    parts = [MADE.before[:50], MADE.before[50:120], MADE.before[120:]]
    store.overtake = lambda: None
    if known:
        append_lines(call.transcript_path, parts.pop(0))
        ingest_transcript(store, call, 1.0)
        store.commit()
    append_lines(call.transcript_path, parts.pop(0))

    def overtake() -> None:
        if parts:
            saved_by_another(call, store)
            append_lines(call.transcript_path, parts.pop())

    store.overtake = overtake
    session = ingest_transcript(store, call, 3.0)
    store.commit()
    row = store.session("s1")
    assert row is not None
    assert row["state"] == session.state == folded(call.transcript_path)


def test_ingest_gives_up_after_repeated_conflicts(call: HookEvent, store: Overtaken) -> None:
    lines = iter(MADE.before)
    append_lines(call.transcript_path, [next(lines)])

    def overtake() -> None:
        saved_by_another(call, store)
        append_lines(call.transcript_path, [next(lines)])

    store.overtake = overtake
    with pytest.raises(StoreUnavailable, match="too many processes"):
        ingest_transcript(store, call, 1.0)
    row = store.session("s1")
    assert row is not None
    assert row["revision"] == MAX_SAVE_ATTEMPTS, "what the others saved stands"
