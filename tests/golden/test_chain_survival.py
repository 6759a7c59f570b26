"""Compactions of real sessions lose no state: the tests compare it with the raw lines."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from holdfast.state.fold import fold, new_state
from holdfast.state.types import State
from holdfast.transcript.decoder import decode
from tests.golden.corpus import each_session
from tests.golden.file_trail import read_trail
from tests.golden.file_trail.fold_trail import trail_from_state

CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus"
SESSIONS = sorted(
    path
    for path in (CORPUS.glob("*.jsonl.gz") if CORPUS.is_dir() else ())
    if "codex" not in path.name and "agent-" not in path.name
)
EDIT_TOOLS = ("Edit", "MultiEdit", "Write", "NotebookEdit")
SUMMARY_PREFIX = "This session is being continued from a previous conversation"

pytestmark = pytest.mark.parametrize("path", each_session(SESSIONS))


@cache
def raw_lines(path: Path) -> list[bytes]:
    with gzip.open(path) as file:
        return file.read().removesuffix(b"\n").split(b"\n")


def lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The lines of the session itself, without those of its sub-agents."""
    for number, raw in enumerate(raw_lines(path), 1):
        try:
            line = json.loads(raw)
        except ValueError:
            continue
        if isinstance(line, dict) and not line.get("isSidechain"):
            yield number, line


def blocks(line: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    message = line.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    all_blocks = content if isinstance(content, list) else []
    return [block for block in all_blocks if isinstance(block, dict) and block.get("type") == kind]


def is_compaction(line: dict[str, Any]) -> bool:
    message = line.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    text = content if isinstance(content, str) else ""
    return (
        line.get("subtype") == "compact_boundary"
        or bool(line.get("isCompactSummary"))
        or (line.get("type") == "user" and text.startswith(SUMMARY_PREFIX))
    )


def successful_calls(path: Path) -> Iterator[tuple[int, str, dict[str, Any], Any]]:
    """The successful tool calls: line of the result, tool, input, structured result."""
    calls: dict[str, dict[str, Any]] = {}
    for number, line in lines(path):
        for block in blocks(line, "tool_use"):
            calls[block["id"]] = block
        for block in blocks(line, "tool_result"):
            call = calls.pop(block.get("tool_use_id", ""), None)
            if call is not None and not block.get("is_error"):
                yield number, call["name"], call.get("input") or {}, line.get("toolUseResult")


def states_after_compactions(path: Path) -> Iterator[tuple[int, State]]:
    """The state after each compaction and at the end of the session."""
    numbered_lines = list(enumerate(raw_lines(path), 1))
    cuts = [number for number, line in lines(path) if is_compaction(line)]
    state, last_line = new_state(), 0
    for cut in [*cuts, len(numbered_lines)]:
        state = fold(state, decode(numbered_lines[last_line:cut]))
        last_line = cut
        yield cut, state


def changed_files(state: State) -> set[str]:
    trail = trail_from_state(state)
    return {*trail.created, *trail.modified, *trail.deleted}


def edited_files(path: Path, until: int, root: str) -> set[str]:
    """Every file that a tool edited, also if it was deleted later."""
    files: set[str] = set()
    for number, tool, tool_input, _ in successful_calls(path):
        target = tool_input.get("file_path") or tool_input.get("notebook_path")
        if number <= until and tool in EDIT_TOOLS and isinstance(target, str):
            files.add(target.removeprefix(root.rstrip("/") + "/"))
    return files


def test_every_file_changed_before_a_compaction_is_known_after_it(path: Path) -> None:
    for cut, state in states_after_compactions(path):
        actual, expected = trail_from_state(state), read_trail(str(path), cut)
        assert (actual.created, actual.modified, actual.deleted) == (
            expected.created,
            expected.modified,
            expected.deleted,
        )
        # Edited files that are in no set were created and then deleted.
        in_no_set = edited_files(path, cut, state["place"].get("root", "")) - changed_files(state)
        assert not in_no_set & {*expected.created, *expected.modified, *expected.deleted}


def test_a_compaction_changes_nothing_in_the_state_but_its_own_entry(path: Path) -> None:
    numbered_lines = list(enumerate(raw_lines(path), 1))
    state, last_line = new_state(), 0
    for number, line in lines(path):
        if not is_compaction(line):
            continue
        before = fold(state, decode(numbered_lines[last_line : number - 1]))
        state = fold(before, decode(numbered_lines[number - 1 : number]))
        last_line = number
        for part in ("requests", "rules", "decisions", "plan", "commits", "checks", "agents"):
            assert state[part] == before[part]  # type: ignore[literal-required]
        assert changed_files(before) <= changed_files(state)


def last_statuses(path: Path) -> dict[str, str]:
    """The last status of each plan item, by its text."""
    statuses: dict[str, str] = {}
    tasks: dict[str, str] = {}
    for _, tool, tool_input, detail in successful_calls(path):
        result = detail if isinstance(detail, dict) else {}
        if tool == "TodoWrite":
            for todo in result.get("newTodos") or tool_input.get("todos") or []:
                statuses[todo["content"]] = todo["status"]
        elif tool == "TaskCreate" and isinstance(result.get("task"), dict):
            tasks[str(result["task"]["id"])] = tool_input["subject"]
            statuses[tool_input["subject"]] = "pending"
        elif tool == "TaskUpdate" and str(tool_input.get("taskId")) in tasks:
            task_id = str(tool_input["taskId"])
            tasks[task_id] = tool_input.get("subject") or tasks[task_id]
            statuses[tasks[task_id]] = tool_input.get("status") or statuses.get(
                tasks[task_id], "pending"
            )
    return statuses


def test_plan_items_have_the_status_that_the_tools_last_set(path: Path) -> None:
    (*_, (_, state)) = states_after_compactions(path)
    statuses = last_statuses(path)
    open_items = [item["text"] for item in state["plan"] if item["status"] != "completed"]
    assert [text for text in open_items if statuses.get(text) == "completed"] == []
    completed_items = {item["text"] for item in state["plan"] if item["status"] == "completed"}
    completed = [text for text, status in statuses.items() if status == "completed"]
    if len(state["plan"]) < 200:
        assert [text for text in completed if len(text) < 300 and text not in completed_items] == []
