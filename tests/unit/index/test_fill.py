"""The index follows transcripts that grow, vanish, shrink and are replaced."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from pathlib import Path

import pytest

from holdfast.errors import StoreUnavailable
from holdfast.index import fill, ids
from holdfast.index.database import Index, delete, unpack
from holdfast.index.fill import Source, is_behind
from holdfast.index.kept import forget

from .transcripts import BOUNDARY, NOW, answered, append, called, filled, lines, said


def test_what_was_added_since_is_read_and_nothing_twice(index: Index, path: Path) -> None:
    append(path, said("alpha"))
    filled(index, path)
    append(path, said("beta"), said("alpha again"))
    filled(index, path)
    filled(index, path)
    assert lines(index, "beta") == [2]
    assert sorted(lines(index, "alpha")) == [1, 3]


def test_a_result_in_a_later_batch_still_belongs_to_its_call(index: Index, path: Path) -> None:
    append(path, called("t1", "Read", file_path="/srv/queue.py"))
    filled(index, path)
    append(path, answered("t1", "def push(): ..."))
    filled(index, path)
    assert lines(index, "push queue.py")[0] == 2


def test_it_is_told_when_there_is_nothing_new(index: Index, path: Path) -> None:
    append(path, said("alpha"))
    source = Source("s1", "/p", str(path))
    assert is_behind(index, source)
    filled(index, path)
    assert not is_behind(index, source)
    append(path, said("beta"))
    assert is_behind(index, source)


def test_a_line_is_read_when_it_is_whole(index: Index, path: Path) -> None:
    whole = json.dumps(said("alpha beta"))
    path.write_text(whole[:20], encoding="utf-8")
    now = path.stat().st_mtime
    source = Source("s1", "/p", str(path))
    assert fill.fill(index, source, now)
    assert lines(index, "alpha") == []
    path.write_text(whole, encoding="utf-8")
    assert fill.fill(index, source, now)
    assert lines(index, "alpha") == []
    # Nobody wrote the newline for a while: that was the end.
    assert fill.fill(index, source, now + 3600)
    assert lines(index, "alpha") == [1]


def test_batches_add_up_to_the_whole(
    index: Index, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fill, "BATCH", 1)
    monkeypatch.setattr("holdfast.transcript.reader.CHUNK", 300)
    append(path, *[said(f"word{number} and filler") for number in range(50)])
    read: list[int] = []
    fill.fill(index, Source("s1", "/p", str(path)), NOW, told=read.append)
    assert len(read) > 10
    assert sum(read) == path.stat().st_size
    assert all(lines(index, f"word{number}") == [number + 1] for number in range(50))


def test_it_stops_between_batches_and_goes_on_later(
    index: Index, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fill, "BATCH", 1)
    monkeypatch.setattr("holdfast.transcript.reader.CHUNK", 300)
    append(path, *[said(f"word{number} and filler") for number in range(50)])
    source, answers = Source("s1", "/p", str(path)), iter([False, False, True])
    assert not fill.fill(index, source, NOW, lambda: next(answers))
    assert lines(index, "word0") == [1]
    assert lines(index, "word49") == []
    assert fill.fill(index, source, NOW)
    assert lines(index, "word49") == [50]


def test_a_replaced_transcript_is_read_anew(index: Index, path: Path) -> None:
    append(path, said("alpha"), said("beta"))
    filled(index, path)
    path.unlink()
    append(path, said("gamma"))
    filled(index, path)
    assert [lines(index, word) for word in ("alpha", "beta", "gamma")] == [[], [], [1]]


def test_a_vanished_transcript_keeps_what_was_read(index: Index, path: Path) -> None:
    append(path, said("alpha"))
    filled(index, path)
    path.unlink()
    filled(index, path)
    assert lines(index, "alpha") == [1]


def test_forgetting_leaves_no_word_behind(index: Index, path: Path) -> None:
    append(path, said("alpha camelCase 队列 🎉"), called("t", "Read", file_path="/a/b.py"))
    filled(index, path)
    with index.writing():
        forget(index, "s1")
    everything = {"low": 0, "high": ids.EVERYTHING[1], "most": 9}
    for match in ("alpha", "camel", "队列", "u1f389", "py"):
        assert index.all("found", {**everything, "match": f'"{match}"'}) == []
    assert index.all("transcripts") == []


def test_sessions_and_projects_are_ranges_of_their_own(index: Index, tmp_path: Path) -> None:
    for session, project in (("a1", "/a"), ("b1", "/b"), ("a2", "/a")):
        file = tmp_path / f"{session}.jsonl"
        append(file, said(f"shared {session}"))
        filled(index, file, session, project)

    def seen(project: str | None, session: str | None) -> set[str]:
        scope = index.scope(project, session)
        assert scope
        row = {"match": '"shared"', "low": scope[0], "high": scope[1], "most": 9}
        found = [one["rowid"] for one in index.all("found", row)]
        numbers = {one["number"]: one["session"] for one in index.all("transcripts")}
        return {numbers[ident // ids.PER_SESSION] for ident in found}

    assert seen("/a", None) == {"a1", "a2"}
    assert seen("/b", None) == {"b1"}
    assert seen(None, "a2") == {"a2"}
    assert seen(None, None) == {"a1", "a2", "b1"}
    assert index.scope("/c", None) is None
    assert index.scope(None, "c") is None


def test_the_last_compaction_is_known(index: Index, path: Path) -> None:
    append(path, said("alpha"), BOUNDARY, said("s", isCompactSummary=True), said("beta"))
    filled(index, path)
    (row,) = index.all("transcripts")
    assert row["compaction"] == 2
    append(path, said("This session is being continued from a previous conversation"))
    filled(index, path)
    (row,) = index.all("transcripts")
    assert row["compaction"] == 5


def test_only_its_owner_can_read_it(index: Index, path: Path) -> None:
    append(path, said("alpha"))
    filled(index, path)
    for file in Path(index.path).parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(Path(index.path).parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("damage", [b"this is no database " * 300, b""])
def test_a_damaged_index_is_made_again(index: Index, path: Path, damage: bytes) -> None:
    append(path, said("alpha"))
    filled(index, path)
    index.close()
    for ending in ("-wal", "-shm"):
        Path(index.path + ending).unlink(missing_ok=True)
    Path(index.path).write_bytes(damage)
    with Index(index.path) as again:
        filled(again, path)
        assert lines(again, "alpha") == [1]


def test_an_index_of_another_version_is_made_again(index: Index, path: Path) -> None:
    append(path, said("alpha"))
    filled(index, path)
    index.close()
    other = sqlite3.connect(index.path)
    other.execute("PRAGMA user_version = 99")
    other.execute("DROP TABLE pieces")
    other.close()
    with Index(index.path) as again:
        assert again.all("transcripts") == []
        filled(again, path)
        assert lines(again, "alpha") == [1]


def test_two_can_fill_it_at_once_and_nothing_is_there_twice(index: Index, path: Path) -> None:
    append(path, *[said(f"word{number}") for number in range(20)])
    with Index(index.path) as other:
        filled(index, path)
        filled(other, path)
        append(path, said("last"))
        filled(other, path)
        filled(index, path)
        assert lines(index, "last") == [21]
        assert lines(other, "word7") == [8]


def test_one_that_fills_it_keeps_no_reader_waiting(index: Index, path: Path) -> None:
    append(path, said("alpha"))
    filled(index, path)
    with Index(index.path, busy_seconds=0.0) as other, index.writing():
        assert lines(other, "alpha") == [1]
        with pytest.raises(StoreUnavailable, match="locked"), other.writing():
            pass


def test_it_can_be_deleted(index: Index, path: Path) -> None:
    append(path, said("alpha"))
    filled(index, path)
    index.close()
    delete(index.path)
    delete(index.path)
    assert os.listdir(Path(index.path).parent) == []


def test_a_line_of_very_many_parts_is_read_as_far_as_it_goes(index: Index, path: Path) -> None:
    blocks = [{"type": "text", "text": f"part{number}"} for number in range(200)]
    append(path, {"type": "assistant", "message": {"content": blocks}}, said("after"))
    filled(index, path)
    assert lines(index, "part3") == [1]
    assert lines(index, "part199") == []
    assert lines(index, "after") == [2]


def test_nothing_in_it_holds_a_secret(index: Index, path: Path) -> None:
    token = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1cD3fG5"
    append(
        path,
        said(f"use {token}"),
        called("t1", "Read", file_path=f"/tmp/{token}/x.py"),
        answered("t1", f"token={token}"),
        called("t2", "Bash", command=f"curl -u x:{token}", path=f"/srv/{token}"),
    )
    filled(index, path)
    rows = index.all("pieces_between", ids.EVERYTHING) + index.all("transcripts")
    kept = json.dumps([{**row, "text": unpack(row.get("text", ""))} for row in rows])
    assert len(rows) == 5
    assert token[4:] not in kept
    assert lines(index, token) == lines(index, token[4:]) == []
