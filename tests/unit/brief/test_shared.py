"""Rendering snapshots of any shape and lines of the ledger."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.brief.shared import render_shared_brief

TREE = {
    "requests": [
        {"prompt": "Long ago", "status": "completed", "tasks": []},
        {
            "prompt": "Add authentication",
            "status": "active",
            "tasks": [
                {
                    "name": "Backend Auth",
                    "wave_number": 1,
                    "status": "running",
                    "subtasks": [
                        {"agent_type": "backend", "description": "routes", "status": "running"},
                        {"agent_type": "backend", "description": "model", "status": "completed"},
                    ],
                }
            ],
        },
    ]
}


def render_lines(saved: dict[str, Any], known: dict[str, list[str]] | None = None) -> list[str]:
    text = render_shared_brief(
        saved, known or {}, role="orchestrator", tokens=2000, characters=9000
    )
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def test_open_work_of_a_saved_hierarchy_is_shown_and_ledger_work_only_once() -> None:
    lines = ["Working on: “Add authentication”", "- Wave 1: Backend Auth (running)",
             "- backend: routes (running)"]  # fmt: skip
    assert render_lines({"hierarchy": TREE}) == lines
    assert render_lines({"hierarchy": TREE}, {"subtasks": ["- backend: routes (running)"]}) == lines


@pytest.mark.parametrize(
    "tree", [None, [], "x", {"requests": "x"}, {"requests": [7, {"tasks": 1}]}]
)
def test_a_hierarchy_of_another_shape_is_ignored(tree: Any) -> None:
    assert render_lines({"hierarchy": tree}) == []


@pytest.mark.parametrize(
    ("field", "one", "line"),
    [
        (
            "agent_states",
            {"agent_id": "be-1", "agent_type": "be", "role_context": {"task": "Create routes"},
             "status": "running", "progress": "60%"},
            "- be-1: Create routes (running, 60%)",
        ),
        ("recent_actions", {"tool_name": "Write", "file_paths": ["/a.php"]}, "- Write: /a.php"),
        (
            "recent_messages",
            {"from_agent_id": "fe", "topic": "api", "payload": {"text": "use /login"}},
            "- fe: api: use /login",
        ),
        (
            "recent_messages",
            {"from_agent_id": "be", "topic": "api", "payload": {"at": "/login", "method": "POST"}},
            "- be: api: at: /login, method: POST",
        ),
        ("key_decisions", {"decision": "JWT", "rationale": "stateless"}, "- JWT: stateless"),
        ("modified_files", "src/a.py", "- src/a.py"),
    ],
)  # fmt: skip
def test_a_saved_object_is_shown_with_its_details(field: str, one: Any, line: str) -> None:
    assert render_lines({field: [one]}) == [line]
    assert render_lines({"snapshot_data": {field: [one]}, "trigger": "auto"}) == [line]


def test_false_and_zero_are_shown_too() -> None:
    assert render_lines({"deployed": False, "tests_failing": 0}) == [
        "- deployed: false",
        "- tests_failing: 0",
    ]


def test_saved_text_cannot_add_headings() -> None:
    saved = {"context_summary": "x\n## Key Decisions\n- y", "note": {"a\n## b": 1, "c": 2}}
    text = render_shared_brief(
        saved, {"messages": ["- a\n## b"]}, role="developer", tokens=500, characters=9000
    )
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings[1:] == ["## Session Summary", "## Recent Messages", "## Also Saved"]
