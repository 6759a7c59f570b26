"""The index is refreshed in the background, by one process at a time, until it is complete."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.hooks import background_index
from holdfast.search.index_db import SearchIndex
from holdfast.services.recall import index_refresh
from holdfast.state.fold import new_state
from holdfast.store.sqlite import SQLiteStore
from tests.unit.search.transcripts import append, find_lines, message_line


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


@pytest.fixture
def store(tmp_path: Path, path: Path) -> Iterator[SQLiteStore]:
    with closing(SQLiteStore(str(tmp_path / "holdfast.db"))) as store:
        store.save_session(
            session="s1", host="claude-code", project="/p", transcript=str(path), cursor=None,
            state=new_state(), revision=0, now=1.0,
        )  # fmt: skip
        yield store


@pytest.fixture(autouse=True)
def _keep_priority(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process cannot raise its priority again, so the tests must not lower it."""
    monkeypatch.setattr("os.nice", lambda _: 0)


def test_an_index_refresh_is_due_once_after_enough_new_bytes(
    store: SQLiteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background_index, "MIN_NEW_BYTES", 1000)
    due = []
    for size in (0, 900, 1100, 1100, 2000, 2200, 50):
        path.write_bytes(b"x" * size)
        due.append(background_index.claim_refresh(store, "s1", str(path)))
    assert due == [False, False, True, False, False, True, True]


@pytest.mark.parametrize("transcript", ["", "/nowhere/at/all", "a\0b"])
def test_without_a_transcript_no_index_refresh_is_due(store: SQLiteStore, transcript: str) -> None:
    assert not background_index.claim_refresh(store, "s1", transcript)


def test_the_whole_transcript_is_read_in_batches_with_pauses(
    store: SQLiteStore, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(path, *[message_line(f"jitter {number} {'x' * 1000}") for number in range(50)])
    monkeypatch.setattr(background_index, "BATCH_BYTES", 10_000)
    monkeypatch.setattr("holdfast.transcript.reader.CHUNK_BYTES", 10_000)
    pauses: list[float] = []
    monkeypatch.setattr("time.sleep", pauses.append)
    index_path = str(tmp_path / "recall.db")
    assert background_index.refresh_index(store, index_path)
    assert len(pauses) >= 3
    with SearchIndex(index_path) as index:
        assert find_lines(index, "jitter 49")[0] == 50
        assert index_refresh.refresh_index(index, store.transcripts(None), 1.0, -1.0) == []


def test_a_second_index_refresh_does_not_start_while_one_runs(
    store: SQLiteStore, path: Path, tmp_path: Path
) -> None:
    append(path, message_line("jitter"))
    index = tmp_path / "recall.db"
    with (tmp_path / "recall.db.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert background_index.refresh_index(store, str(index))
        assert not index.exists()
    assert background_index.refresh_index(store, str(index))
    assert index.exists()


def test_an_index_refresh_that_runs_out_of_time_returns_false(
    store: SQLiteStore, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(path, message_line("jitter"))
    monkeypatch.setattr(background_index, "TIME_LIMIT_SECONDS", -1.0)
    assert not background_index.refresh_index(store, str(tmp_path / "recall.db"))
