"""No compaction makes the state forget, on real sessions: read again here from the raw lines."""

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
from tests.golden.file_trail import trail
from tests.golden.file_trail.folded import folded_trail

CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus"
SESSIONS = sorted(
    path
    for path in (CORPUS.glob("*.jsonl.gz") if CORPUS.is_dir() else ())
    if "codex" not in path.name and "agent-" not in path.name
)
EDITS = ("Edit", "MultiEdit", "Write", "NotebookEdit")
CONTINUED = "This session is being continued from a previous conversation"

pytestmark = pytest.mark.parametrize("path", each_session(SESSIONS))


@cache
def raw_lines(path: Path) -> list[bytes]:
    with gzip.open(path) as file:
        return file.read().removesuffix(b"\n").split(b"\n")


def lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The lines of the session itself, without its sub-agents'."""
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
    found = content if isinstance(content, list) else []
    return [block for block in found if isinstance(block, dict) and block.get("type") == kind]


def is_compaction(line: dict[str, Any]) -> bool:
    message = line.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    said = content if isinstance(content, str) else ""
    return (
        line.get("subtype") == "compact_boundary"
        or bool(line.get("isCompactSummary"))
        or (line.get("type") == "user" and said.startswith(CONTINUED))
    )


def used(path: Path) -> Iterator[tuple[int, str, dict[str, Any], Any]]:
    """Every call that worked: where its result stands, its tool, its input, what came of it."""
    calls: dict[str, dict[str, Any]] = {}
    for number, line in lines(path):
        for block in blocks(line, "tool_use"):
            calls[block["id"]] = block
        for block in blocks(line, "tool_result"):
            call = calls.pop(block.get("tool_use_id", ""), None)
            if call is not None and not block.get("is_error"):
                yield number, call["name"], call.get("input") or {}, line.get("toolUseResult")


def states(path: Path) -> Iterator[tuple[int, State]]:
    """The state right after each compaction, and at the end."""
    raws = list(enumerate(raw_lines(path), 1))
    cuts = [number for number, line in lines(path) if is_compaction(line)]
    state, done = new_state(), 0
    for cut in [*cuts, len(raws)]:
        state = fold(state, decode(raws[done:cut]))
        done = cut
        yield cut, state


def by_what_became_of_it(state: State) -> set[str]:
    found = folded_trail(state)
    return {*found.created, *found.modified, *found.deleted}


def edited(path: Path, until: int, root: str) -> set[str]:
    """Every file that a tool changed, whatever became of it later."""
    found: set[str] = set()
    for number, tool, given, _ in used(path):
        target = given.get("file_path") or given.get("notebook_path")
        if number <= until and tool in EDITS and isinstance(target, str):
            found.add(target.removeprefix(root.rstrip("/") + "/"))
    return found


def test_a_file_changed_before_a_compaction_is_known_after_it_and_at_the_end(path: Path) -> None:
    for cut, state in states(path):
        ours, theirs = folded_trail(state), trail(str(path), cut)
        assert (ours.created, ours.modified, ours.deleted) == (
            theirs.created,
            theirs.modified,
            theirs.deleted,
        )
        # What is known of neither was created, and deleted again.
        gone = edited(path, cut, state["place"].get("root", "")) - by_what_became_of_it(state)
        assert not gone & {*theirs.created, *theirs.modified, *theirs.deleted}


def test_what_a_compaction_finds_is_there_after_it(path: Path) -> None:
    raws = list(enumerate(raw_lines(path), 1))
    state, done = new_state(), 0
    for number, line in lines(path):
        if not is_compaction(line):
            continue
        before = fold(state, decode(raws[done : number - 1]))
        state = fold(before, decode(raws[number - 1 : number]))
        done = number
        for part in ("requests", "rules", "decisions", "plan", "commits", "checks", "agents"):
            assert state[part] == before[part]  # type: ignore[literal-required]
        assert by_what_became_of_it(before) <= by_what_became_of_it(state)


def last_statuses(path: Path) -> dict[str, str]:
    """The status that each item of a plan was last given, by its words."""
    told: dict[str, str] = {}
    tasks: dict[str, str] = {}
    for _, tool, given, detail in used(path):
        made = detail if isinstance(detail, dict) else {}
        if tool == "TodoWrite":
            for todo in made.get("newTodos") or given.get("todos") or []:
                told[todo["content"]] = todo["status"]
        elif tool == "TaskCreate" and isinstance(made.get("task"), dict):
            tasks[str(made["task"]["id"])] = given["subject"]
            told[given["subject"]] = "pending"
        elif tool == "TaskUpdate" and str(given.get("taskId")) in tasks:
            number = str(given["taskId"])
            tasks[number] = given.get("subject") or tasks[number]
            told[tasks[number]] = given.get("status") or told.get(tasks[number], "pending")
    return told


def test_nothing_that_is_done_is_shown_as_pending(path: Path) -> None:
    (*_, (_, state)) = states(path)
    statuses = last_statuses(path)
    open_items = [item["text"] for item in state["plan"] if item["status"] != "completed"]
    assert [text for text in open_items if statuses.get(text) == "completed"] == []
    done = {item["text"] for item in state["plan"] if item["status"] == "completed"}
    completed = [text for text, status in statuses.items() if status == "completed"]
    if len(state["plan"]) < 200:
        assert [text for text in completed if len(text) < 300 and text not in done] == []
