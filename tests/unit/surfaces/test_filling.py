"""The index is filled beside everything else: when it is worth it, by one at a time, to the end."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.actions import indexing
from holdfast.index.database import Index
from holdfast.state.fold import new_state
from holdfast.store.sqlite import SQLiteStore
from holdfast.surfaces import filling
from tests.unit.index.transcripts import append, lines, said


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


@pytest.fixture
def store(tmp_path: Path, path: Path) -> Iterator[SQLiteStore]:
    with closing(SQLiteStore(str(tmp_path / "holdfast.db"))) as opened:
        opened.save_session(
            session="s1", host="claude-code", project="/p", transcript=str(path), cursor=None,
            state=new_state(), revision=0, now=1.0,
        )  # fmt: skip
        yield opened


@pytest.fixture(autouse=True)
def _as_urgent_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is nice to others stays so for good; the tests after this one are not."""
    monkeypatch.setattr("os.nice", lambda _: 0)


def test_it_is_due_when_enough_is_new_and_then_not_again(
    store: SQLiteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filling, "ENOUGH", 1000)
    due = []
    for size in (0, 900, 1100, 1100, 2000, 2200, 50):
        path.write_bytes(b"x" * size)
        due.append(filling.is_due(store, "s1", str(path)))
    assert due == [False, False, True, False, False, True, True]


@pytest.mark.parametrize("transcript", ["", "/nowhere/at/all", "a\0b"])
def test_without_a_transcript_it_is_not_due(store: SQLiteStore, transcript: str) -> None:
    assert not filling.is_due(store, "s1", transcript)


def test_everything_is_read_in_batches_with_pauses_between(
    store: SQLiteStore, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(path, *[said(f"jitter {number} {'x' * 1000}") for number in range(50)])
    monkeypatch.setattr(filling, "BATCH", 10_000)
    monkeypatch.setattr("holdfast.transcript.reader.CHUNK", 10_000)
    paused: list[float] = []
    monkeypatch.setattr("time.sleep", paused.append)
    index = str(tmp_path / "recall.db")
    assert filling.fill(store, index)
    assert len(paused) >= 3
    with Index(index) as opened:
        assert lines(opened, "jitter 49")[0] == 50
        assert indexing.catch_up(opened, store.transcripts(None), 1.0, -1.0) == []


def test_where_somebody_is_at_it_nobody_else_begins(
    store: SQLiteStore, path: Path, tmp_path: Path
) -> None:
    append(path, said("jitter"))
    index = tmp_path / "recall.db"
    with (tmp_path / "recall.db.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert filling.fill(store, str(index))
        assert not index.exists()
    assert filling.fill(store, str(index))
    assert index.exists()


def test_what_is_not_done_in_time_is_left_to_the_next(
    store: SQLiteStore, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(path, said("jitter"))
    monkeypatch.setattr(filling, "SECONDS", -1.0)
    assert not filling.fill(store, str(tmp_path / "recall.db"))
