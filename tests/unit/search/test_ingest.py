"""The index is updated when transcripts grow, are replaced or deleted."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from pathlib import Path

import pytest

from holdfast.errors import StoreUnavailable
from holdfast.search import document_ids, ingest
from holdfast.search.index_db import SearchIndex, decompress_text, delete_index
from holdfast.search.ingest import Source, is_transcript_behind
from holdfast.search.session_rows import forget_session
from tests.unit.search.transcripts import (
    BOUNDARY,
    NOW,
    append,
    find_lines,
    ingest_file,
    message_line,
    tool_call_line,
    tool_result_line,
)


def test_appended_lines_are_indexed_once(index: SearchIndex, path: Path) -> None:
    append(path, message_line("alpha"))
    ingest_file(index, path)
    append(path, message_line("beta"), message_line("alpha again"))
    ingest_file(index, path)
    ingest_file(index, path)
    assert find_lines(index, "beta") == [2]
    assert sorted(find_lines(index, "alpha")) == [1, 3]


def test_a_result_in_a_later_batch_still_belongs_to_its_call(
    index: SearchIndex, path: Path
) -> None:
    append(path, tool_call_line("t1", "Read", file_path="/srv/queue.py"))
    ingest_file(index, path)
    append(path, tool_result_line("t1", "def push(): ..."))
    ingest_file(index, path)
    assert find_lines(index, "push queue.py")[0] == 2


def test_a_transcript_is_behind_until_its_new_lines_are_indexed(
    index: SearchIndex, path: Path
) -> None:
    append(path, message_line("alpha"))
    source = Source("s1", "/p", str(path))
    assert is_transcript_behind(index, source)
    ingest_file(index, path)
    assert not is_transcript_behind(index, source)
    append(path, message_line("beta"))
    assert is_transcript_behind(index, source)


def test_a_line_is_indexed_once_it_is_complete(index: SearchIndex, path: Path) -> None:
    line = json.dumps(message_line("alpha beta"))
    path.write_text(line[:20], encoding="utf-8")
    now = path.stat().st_mtime
    source = Source("s1", "/p", str(path))
    assert ingest.ingest_transcript(index, source, now)
    assert find_lines(index, "alpha") == []
    path.write_text(line, encoding="utf-8")
    assert ingest.ingest_transcript(index, source, now)
    assert find_lines(index, "alpha") == []
    # After an hour without a newline the line counts as complete.
    assert ingest.ingest_transcript(index, source, now + 3600)
    assert find_lines(index, "alpha") == [1]


def test_batches_cover_the_whole_transcript(
    index: SearchIndex, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "BATCH_BYTES", 1)
    monkeypatch.setattr("holdfast.transcript.reader.CHUNK_BYTES", 300)
    append(path, *[message_line(f"word{number} and filler") for number in range(50)])
    batch_sizes: list[int] = []
    ingest.ingest_transcript(index, Source("s1", "/p", str(path)), NOW, on_batch=batch_sizes.append)
    assert len(batch_sizes) > 10
    assert sum(batch_sizes) == path.stat().st_size
    assert all(find_lines(index, f"word{number}") == [number + 1] for number in range(50))


def test_ingesting_stops_between_batches_and_continues_later(
    index: SearchIndex, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "BATCH_BYTES", 1)
    monkeypatch.setattr("holdfast.transcript.reader.CHUNK_BYTES", 300)
    append(path, *[message_line(f"word{number} and filler") for number in range(50)])
    source, stop_values = Source("s1", "/p", str(path)), iter([False, False, True])
    assert not ingest.ingest_transcript(index, source, NOW, lambda: next(stop_values))
    assert find_lines(index, "word0") == [1]
    assert find_lines(index, "word49") == []
    assert ingest.ingest_transcript(index, source, NOW)
    assert find_lines(index, "word49") == [50]


def test_a_replaced_transcript_is_indexed_again(index: SearchIndex, path: Path) -> None:
    append(path, message_line("alpha"), message_line("beta"))
    ingest_file(index, path)
    path.unlink()
    append(path, message_line("gamma"))
    ingest_file(index, path)
    assert [find_lines(index, word) for word in ("alpha", "beta", "gamma")] == [[], [], [1]]


def test_the_lines_of_a_deleted_transcript_stay_indexed(index: SearchIndex, path: Path) -> None:
    append(path, message_line("alpha"))
    ingest_file(index, path)
    path.unlink()
    ingest_file(index, path)
    assert find_lines(index, "alpha") == [1]


def test_forgetting_a_session_removes_all_its_index_entries(index: SearchIndex, path: Path) -> None:
    append(
        path,
        message_line("alpha camelCase 队列 🎉"),
        tool_call_line("t", "Read", file_path="/a/b.py"),
    )
    ingest_file(index, path)
    with index.transaction():
        forget_session(index, "s1")
    all_documents = {"low": 0, "high": document_ids.ALL_IDS[1], "limit": 9}
    for match in ("alpha", "camel", "队列", "u1f389", "py"):
        assert index.fetch_all("match", {**all_documents, "match": f'"{match}"'}) == []
    assert index.fetch_all("transcripts") == []


def test_sessions_and_projects_have_separate_id_ranges(index: SearchIndex, tmp_path: Path) -> None:
    for session, project in (("a1", "/a"), ("b1", "/b"), ("a2", "/a")):
        file = tmp_path / f"{session}.jsonl"
        append(file, message_line(f"shared {session}"))
        ingest_file(index, file, session, project)

    def find_sessions(project: str | None, session: str | None) -> set[str]:
        scope = index.scope(project, session)
        assert scope
        values = {"match": '"shared"', "low": scope[0], "high": scope[1], "limit": 9}
        ids = [row["rowid"] for row in index.fetch_all("match", values)]
        sessions = {row["number"]: row["session"] for row in index.fetch_all("transcripts")}
        return {sessions[ident // document_ids.IDS_PER_SESSION] for ident in ids}

    assert find_sessions("/a", None) == {"a1", "a2"}
    assert find_sessions("/b", None) == {"b1"}
    assert find_sessions(None, "a2") == {"a2"}
    assert find_sessions(None, None) == {"a1", "a2", "b1"}
    assert index.scope("/c", None) is None
    assert index.scope(None, "c") is None


def test_the_line_of_the_last_compaction_is_stored(index: SearchIndex, path: Path) -> None:
    append(
        path,
        message_line("alpha"),
        BOUNDARY,
        message_line("s", isCompactSummary=True),
        message_line("beta"),
    )
    ingest_file(index, path)
    (row,) = index.fetch_all("transcripts")
    assert row["compaction"] == 2
    append(path, message_line("This session is being continued from a previous conversation"))
    ingest_file(index, path)
    (row,) = index.fetch_all("transcripts")
    assert row["compaction"] == 5


def test_the_index_is_readable_only_by_its_owner(index: SearchIndex, path: Path) -> None:
    append(path, message_line("alpha"))
    ingest_file(index, path)
    for file in Path(index.path).parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(Path(index.path).parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("damage", [b"this is no database " * 300, b""])
def test_a_damaged_index_is_recreated(index: SearchIndex, path: Path, damage: bytes) -> None:
    append(path, message_line("alpha"))
    ingest_file(index, path)
    index.close()
    for suffix in ("-wal", "-shm"):
        Path(index.path + suffix).unlink(missing_ok=True)
    Path(index.path).write_bytes(damage)
    with SearchIndex(index.path) as recreated:
        ingest_file(recreated, path)
        assert find_lines(recreated, "alpha") == [1]


def test_an_index_of_another_version_is_recreated(index: SearchIndex, path: Path) -> None:
    append(path, message_line("alpha"))
    ingest_file(index, path)
    index.close()
    other = sqlite3.connect(index.path)
    other.execute("PRAGMA user_version = 999")
    other.execute("DROP TABLE documents")
    other.close()
    with SearchIndex(index.path) as recreated:
        assert recreated.fetch_all("transcripts") == []
        ingest_file(recreated, path)
        assert find_lines(recreated, "alpha") == [1]


def test_two_processes_can_update_the_index_without_duplicates(
    index: SearchIndex, path: Path
) -> None:
    append(path, *[message_line(f"word{number}") for number in range(20)])
    with SearchIndex(index.path) as other:
        ingest_file(index, path)
        ingest_file(other, path)
        append(path, message_line("last"))
        ingest_file(other, path)
        ingest_file(index, path)
        assert find_lines(index, "last") == [21]
        assert find_lines(other, "word7") == [8]


def test_a_writer_does_not_block_readers(index: SearchIndex, path: Path) -> None:
    append(path, message_line("alpha"))
    ingest_file(index, path)
    with SearchIndex(index.path, busy_seconds=0.0) as other, index.transaction():
        assert find_lines(other, "alpha") == [1]
        with pytest.raises(StoreUnavailable, match="locked"), other.transaction():
            pass


def test_the_index_can_be_deleted(index: SearchIndex, path: Path) -> None:
    append(path, message_line("alpha"))
    ingest_file(index, path)
    index.close()
    delete_index(index.path)
    delete_index(index.path)
    assert os.listdir(Path(index.path).parent) == []


def test_a_line_with_too_many_documents_is_indexed_up_to_the_limit(
    index: SearchIndex, path: Path
) -> None:
    blocks = [{"type": "text", "text": f"part{number}"} for number in range(200)]
    append(path, {"type": "assistant", "message": {"content": blocks}}, message_line("after"))
    ingest_file(index, path)
    assert find_lines(index, "part3") == [1]
    assert find_lines(index, "part199") == []
    assert find_lines(index, "after") == [2]


def test_the_index_contains_no_secret(index: SearchIndex, path: Path) -> None:
    token = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1cD3fG5"
    append(
        path,
        message_line(f"use {token}"),
        tool_call_line("t1", "Read", file_path=f"/tmp/{token}/x.py"),
        tool_result_line("t1", f"token={token}"),
        tool_call_line("t2", "Bash", command=f"curl -u x:{token}", path=f"/srv/{token}"),
    )
    ingest_file(index, path)
    rows = index.fetch_all("documents_between", document_ids.ALL_IDS) + index.fetch_all(
        "transcripts"
    )
    stored = json.dumps([{**row, "text": decompress_text(row.get("text", ""))} for row in rows])
    assert len(rows) == 5
    assert token[4:] not in stored
    assert find_lines(index, token) == find_lines(index, token[4:]) == []
