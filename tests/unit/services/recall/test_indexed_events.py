"""The events of a session whose transcript was deleted are rebuilt from the index."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.reports.timeline import TimelineEntry, build_timeline
from holdfast.search.index_db import IN_MEMORY, SearchIndex
from holdfast.search.ingest import Source, ingest_transcript
from holdfast.services.recall.indexed_events import load_indexed_events
from holdfast.transcript.decoder import decode
from tests.unit import rollout_lines
from tests.unit.search.transcripts import NOW
from tests.unit.transcript_lines import (
    ROOT,
    bash,
    boundary,
    call,
    line,
    numbered,
    result,
    summary,
    tool_use,
    user,
)

Entry = tuple[int, str, str, bool | None]


def build_timelines(folder: Path, *lines: Any) -> tuple[list[Entry], list[Entry]]:
    """Return the timeline from the transcript, and from the index after its deletion."""
    path = folder / "session.jsonl"
    path.write_text("".join(f"{json.dumps(entry)}\n" for entry in lines), encoding="utf-8")
    with SearchIndex(IN_MEMORY) as index:
        ingest_transcript(index, Source("s1", ROOT, str(path)), NOW)
        path.unlink()
        indexed_events = load_indexed_events(index, "s1", ROOT)
    original = [*build_timeline(decode(numbered(lines)))]
    rebuilt = [*build_timeline(indexed_events)]
    return _to_tuples(original), _to_tuples(rebuilt)


def _to_tuples(entries: list[TimelineEntry]) -> list[Entry]:
    return [(entry.line, entry.kind, entry.text, entry.ok) for entry in entries]


def edit(path: str) -> list[Any]:
    return tool_use("Edit", {"file_path": path, "old_string": "a", "new_string": "b"}, "done")


def test_turns_edits_tests_commits_and_deletions_are_rebuilt(tmp_path: Path) -> None:
    original, rebuilt = build_timelines(
        tmp_path,
        user("Make it retry."),
        *edit(f"{ROOT}/src/retry.py"),
        *bash("pytest -q", "E   assert 1 == 2\n1 failed", ok=False),
        *bash("cd src &&\npytest -q\nnote: this is no option", "1 passed"),
        *bash("git commit -am x", "[main 3f2c1ab] Retry with a backoff"),
        *tool_use(
            "Write",
            {"file_path": f"{ROOT}/try.py"},
            "File created successfully at: try.py",
            detail={"type": "create"},
        ),
        *tool_use("Bash", {"command": "rm try.py", "limit": 5}, ""),
        *tool_use(
            "Bash", {"command": "rm src/old.py\nrm src/older.py", "description": "Tidy up"}, ""
        ),
        line("pr-link", prUrl="https://example.com/pull/3", prNumber=3, prRepository="a/b"),
        user("Go on."),
    )
    # A result without output is not indexed, so a deletion has the line of its call.
    assert rebuilt == [
        (line_number - (kind == "delete"), kind, *rest) for line_number, kind, *rest in original
    ]
    assert {kind for _, kind, *_ in original} == {
        "turn", "edit", "test", "commit", "delete", "pull_request"
    }  # fmt: skip


def test_parallel_calls_keep_their_own_results(tmp_path: Path) -> None:
    original, rebuilt = build_timelines(
        tmp_path,
        user("Check it."),
        call("Bash", {"command": "ruff check ."}, call_id="a"),
        call("Bash", {"command": "pytest -q"}, call_id="b"),
        result("1 failed", ok=False, call_id="b"),
        result("All checks passed!", call_id="a"),
    )
    assert rebuilt == original
    assert {(text, ok) for _, _, text, ok in original} >= {
        ("pytest -q", False),
        ("ruff check .", True),
    }


def test_events_of_sub_agents_are_left_out(tmp_path: Path) -> None:
    agent_lines = [
        {**entry, "isSidechain": True, "agentId": "a1"} for entry in edit(f"{ROOT}/aside.py")
    ]
    original, rebuilt = build_timelines(
        tmp_path, user("Go."), *agent_lines, *edit(f"{ROOT}/main.py")
    )
    assert rebuilt == original == [(1, "turn", "Go.", None), (5, "edit", "main.py", None)]


def test_a_queued_prompt_appears_once(tmp_path: Path) -> None:
    queued = [line("queue-operation", operation="enqueue", content=f"and {n}") for n in (1, 2)]
    remove, dequeue = (line("queue-operation", operation=name) for name in ("remove", "dequeue"))
    original, rebuilt = build_timelines(
        tmp_path, user("Go."), *queued, remove, dequeue, user("and 2")
    )
    assert [entry for entry in rebuilt if entry[2] != "and 1"] == [
        (1, "turn", "Go.", None),
        (6, "turn", "and 2", None),
    ]
    assert (
        {entry[2] for entry in rebuilt}
        == {entry[2] for entry in original}
        == {"Go.", "and 1", "and 2"}
    )


def test_compactions_are_rebuilt_from_their_summaries(tmp_path: Path) -> None:
    compacted = boundary(trigger="auto", preTokens=150_000), summary()
    _, rebuilt = build_timelines(tmp_path, user("a"), *compacted, user("b"), *compacted)
    assert [entry for entry in rebuilt if entry[1] == "compaction"] == [
        (3, "compaction", "1 (by the host)", None),
        (6, "compaction", "2 (by the host)", None),
    ]


def test_the_last_compaction_is_rebuilt_without_a_summary(tmp_path: Path) -> None:
    _, rebuilt = build_timelines(tmp_path, user("a"), boundary(trigger="auto"), user("b"))
    assert rebuilt[1] == (2, "compaction", "1 (by the host)", None)


def test_patches_of_codex_are_rebuilt(tmp_path: Path) -> None:
    lines = [
        rollout_lines.meta(cwd=ROOT),
        rollout_lines.prompt("Go."),
        *rollout_lines.apply_patch("*** Update File: src/a.py\n@@\n-a\n+b"),
    ]
    original, rebuilt = build_timelines(tmp_path, *lines)
    assert ("edit", "src/a.py") in {(kind, text) for _, kind, text, _ in original}
    assert rebuilt == original


@pytest.mark.parametrize("session", ["s1", "unknown"])
def test_a_session_that_was_never_indexed_has_no_events(session: str) -> None:
    with SearchIndex(IN_MEMORY) as index:
        assert load_indexed_events(index, session, ROOT) == []
