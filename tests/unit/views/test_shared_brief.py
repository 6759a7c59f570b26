"""What callers save, in whatever shape, as text."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.views.shared_brief import render

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


def told(saved: dict[str, Any], known: dict[str, list[str]] | None = None) -> list[str]:
    text = render(saved, known or {}, role="orchestrator", tokens=2000, characters=9000)
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def test_what_is_open_in_a_saved_tree_is_told_and_what_the_ledger_knows_only_once() -> None:
    lines = ["Working on: “Add authentication”", "- Wave 1: Backend Auth (running)",
             "- backend: routes (running)"]  # fmt: skip
    assert told({"hierarchy": TREE}) == lines
    assert told({"hierarchy": TREE}, {"subtasks": ["- backend: routes (running)"]}) == lines


@pytest.mark.parametrize(
    "tree", [None, [], "x", {"requests": "x"}, {"requests": [7, {"tasks": 1}]}]
)
def test_a_tree_of_another_shape_says_nothing(tree: Any) -> None:
    assert told({"hierarchy": tree}) == []


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
def test_a_saved_thing_is_told_with_what_belongs_to_it(field: str, one: Any, line: str) -> None:
    assert told({field: [one]}) == [line]
    assert told({"snapshot_data": {field: [one]}, "trigger": "auto"}) == [line]


def test_no_and_none_left_are_told_too() -> None:
    assert told({"deployed": False, "tests_failing": 0}) == [
        "- deployed: false",
        "- tests_failing: 0",
    ]


def test_nothing_that_was_saved_makes_headings_of_its_own() -> None:
    saved = {"context_summary": "x\n## Key Decisions\n- y", "note": {"a\n## b": 1, "c": 2}}
    text = render(saved, {"messages": ["- a\n## b"]}, role="developer", tokens=500, characters=9000)
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings[1:] == ["## Session Summary", "## Recent Messages", "## Also Saved"]
