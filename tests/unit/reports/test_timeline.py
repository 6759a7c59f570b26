"""The timeline lists prompts, edits, checks and commits in order, with their lines."""

from __future__ import annotations

from typing import Any

from holdfast.reports.timeline import TimelineEntry, build_timeline
from holdfast.transcript.decoder import decode
from tests.unit.transcript_lines import (
    AT,
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

TOKEN = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1cD3fG5"


def timeline_rows(*lines: Any) -> list[tuple[int, str, str, bool | None]]:
    entries = build_timeline(decode(numbered(lines)))
    return [(entry.line, entry.kind, entry.text, entry.ok) for entry in entries]


def edited(path: str) -> list[Any]:
    arguments = {"file_path": path, "old_string": "a", "new_string": "b"}
    detail = {"filePath": path, "oldString": "a", "newString": "b", "originalFile": "a"}
    return tool_use("Edit", arguments, "done", detail=detail)


def test_turns_edits_tests_commits_and_compactions_are_listed_in_order() -> None:
    assert timeline_rows(
        user("Make it retry."),
        *edited("/srv/app/src/retry.py"),
        *bash("pytest -q", "E   assert 1 == 2\n1 failed", ok=False),
        *edited("/srv/app/src/retry.py"),
        *bash("pytest -q", "1 passed"),
        *bash("git commit -am x", "[main 3f2c1ab] Retry with a backoff"),
        boundary(trigger="auto", preTokens=150_000, postTokens=12_000),
        summary(),
        user("Go on."),
    ) == [
        (1, "turn", "Make it retry.", None),
        (3, "edit", "src/retry.py", None),
        (5, "test", "pytest -q", False),
        (7, "edit", "src/retry.py", None),
        (9, "test", "pytest -q", True),
        (11, "commit", "3f2c1ab Retry with a backoff", None),
        (12, "compaction", "1 (auto, 150,000 tokens → 12,000)", None),
        (14, "turn", "Go on.", None),
    ]


def test_a_failed_test_is_listed_with_its_file_and_line() -> None:
    output = "tests/test_a.py:49: AssertionError\nE   assert 0\n1 failed"
    ((_, kind, text, ok),) = timeline_rows(*bash("make test", output, ok=False))
    assert (kind, text, ok) == ("test", "make test at tests/test_a.py:49", False)


def test_an_entry_has_its_time_and_redacted_text() -> None:
    (entry,) = build_timeline(decode(numbered([user(f"use {TOKEN}")])))
    assert entry == TimelineEntry(1, "turn", "use [redacted:github-token]", AT)


def test_a_pull_request_and_a_deleted_file_are_entries() -> None:
    lines = [
        *tool_use(
            "Write", {"file_path": "/srv/app/a.py", "content": "x"}, detail={"type": "update"}
        ),
        *bash("rm a.py"),
        line("pr-link", prUrl="https://example.com/pull/7"),
    ]
    kinds = [(kind, text) for _, kind, text, _ in timeline_rows(*lines)]
    assert ("delete", "a.py") in kinds
    assert kinds[-1] == ("pull_request", "https://example.com/pull/7")


def test_each_of_many_turns_is_listed_once() -> None:
    assert len(timeline_rows(*[user(f"Do {number}.") for number in range(100)])) == 100


def test_unknown_lines_are_ignored() -> None:
    assert (
        timeline_rows(b"not JSON", {"type": "mode"}, call("Edit", {}), result("x", call_id="other"))
        == []
    )
