"""No content of a log makes the fold fail or its state grow without limit."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.state import file_history
from holdfast.state.fold import MAX_BAD_LINES, MAX_PENDING_CALLS, fold, new_state
from holdfast.transcript.types import Event
from tests.unit.state.folding import commands, outputs, paths, texts, to_json
from tests.unit.transcript_lines import (
    ROOT,
    Line,
    assistant,
    attachment,
    call,
    raw,
    result,
    state_of,
    tool_use,
    user,
)


def test_only_the_newest_calls_without_a_result_are_kept() -> None:
    state = state_of(*(call("Read", {}, f"t{n}") for n in range(MAX_PENDING_CALLS + 5)))
    assert list(state["calls"]) == [f"t{n}" for n in range(5, MAX_PENDING_CALLS + 5)]


def test_a_pending_calls_input_is_shortened() -> None:
    tool_input = {
        "content": "x" * 5000,
        "edits": [{"new_string": "x" * 5000}] * 200,
        "deep": nested_list(50),
        **{f"key{n}": 1 for n in range(1000)},
    }
    kept = state_of(call("Write", tool_input))["calls"]["toolu_1"]["input"]
    assert len(kept["content"]) == 4000
    assert len(kept["edits"]) == 100
    assert len(kept) == 100
    assert len(json.dumps(kept)) < 500_000


def nested_list(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


QUESTION_CALL = call("AskUserQuestion", {})
AGENT_CALL = call("Agent", {})
LINES_WITH_NESTED_VALUE: dict[str, Callable[[Any], list[Line]]] = {
    "type": lambda value: [{"type": value}],
    "content": lambda value: [user(value)],
    "text": lambda value: [assistant({"type": "text", "text": value})],
    "input": lambda value: tool_use("Bash", {"command": value}),
    "todos": lambda value: tool_use("TodoWrite", {"todos": value}, detail={"newTodos": value}),
    "answers": lambda value: [QUESTION_CALL, result(detail={"answers": {"Which?": value}})],
    "agent": lambda value: [AGENT_CALL, result(detail={"agentId": value, "content": value})],
    "task": lambda value: tool_use(
        "TaskCreate", {}, detail={"task": {"id": value, "subject": value}}
    ),
    "hook": lambda value: [attachment("hook_success", hookEvent=value, content=value)],
}


def test_the_fold_survives_any_depth_of_nesting() -> None:
    """A line that makes the fold fail would make every later hook of the session fail too."""
    for key in LINES_WITH_NESTED_VALUE:
        limit = sys.getrecursionlimit()
        for levels in (*range(100, limit - 200, 100), *range(limit - 200, limit + 10)):
            # Written by hand, because `json.dumps` would reach the recursion limit first.
            nested = ("[" * levels + "]" * levels).encode()
            lines = [
                raw(line).replace(b'"@"', nested) for line in LINES_WITH_NESTED_VALUE[key]("@")
            ]
            state = state_of(*lines, user("Go on"))
            assert state["requests"][-1]["text"] == "Go on", key
            assert to_json(fold(state, [])), key


def test_the_list_of_bad_lines_is_bounded() -> None:
    state = state_of(user("Go on"), *[b"not JSON"] * 100)
    assert state["bad_lines"] == list(range(2, 2 + MAX_BAD_LINES))
    assert state["lines"] == 101


tools = st.sampled_from(
    [
        "Bash",
        "Read",
        "Edit",
        "Write",
        "MultiEdit",
        "NotebookEdit",
        "TodoWrite",
        "TaskCreate",
        "TaskUpdate",
        "Agent",
        "Task",
        "AskUserQuestion",
        "ExitPlanMode",
        "mcp__x__y",
    ]
)
keys = st.sampled_from(
    [
        "command",
        "file_path",
        "notebook_path",
        "new_string",
        "content",
        "todos",
        "newTodos",
        "task",
        "id",
        "subject",
        "status",
        "taskId",
        "answers",
        "plan",
        "agentId",
        "type",
        "text",
        "subagent_type",
        "description",
        "prompt",
        "backgroundTaskId",
    ]
)
any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts | commands | paths | outputs,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=10,
)


@settings(deadline=None)
@given(st.lists(st.tuples(tools, any_json, any_json, any_json, st.booleans()), max_size=5))
def test_any_tool_input_and_result_can_be_folded(used_tools: list[Any]) -> None:
    lines: list[Line] = []
    for name, tool_input, content, detail, ok in used_tools:
        lines += tool_use(name, tool_input, content, ok=ok, detail=detail)
    state = state_of(*lines, user("Go on"))
    assert state["requests"][-1]["text"] == "Go on"
    assert state["calls"] == {}
    json.loads(to_json(state))


def turn_events(number: int) -> Iterator[Event]:
    """The events of a turn with new texts and files, which uses a third of the tools."""
    line, long = 100 * number, f"{number} " + "lorem ipsum " * 10
    path = f"{ROOT}/src/file{number}.py"
    uses: list[tuple[str, dict[str, Any], str, bool, Any]] = [
        ("Edit", {"file_path": path, "new_string": long}, "", True, None),
        ("Bash", {"command": f"rm old{number}.py"}, "", True, None),
        ("Bash", {"command": f"mv a{number}.py b{number}.py"}, "", True, None),
        ("Bash", {"command": f"make test-{number}"}, f"E   {long}\nE   1", False, None),
        ("Bash", {"command": "git commit"}, f"[main {number:07x}] {long}", True, None),
        ("TaskCreate", {"subject": long}, "", True, {"task": {"id": str(number)}}),
        ("TodoWrite", {"todos": [{"content": long, "status": "completed"}]}, "", True, None),
        ("Agent", {"description": long}, long, True, None),
        ("AskUserQuestion", {}, "", True, {"answers": {long: long}}),
    ]
    yield {"kind": "prompt", "line": line, "text": f"Never use {long}. Let's use {long}."}
    yield {"kind": "reply", "line": line + 1, "text": f"I decided to use {long}. Is {long} fine?"}
    for index, (tool, tool_input, output, ok, detail) in enumerate(uses[number % 3 :: 3]):
        tool_result: Event = {
            "kind": "tool_result",
            "line": line + 3,
            "id": f"{index}",
            "ok": ok,
            "text": output,
            "detail": detail,
        }
        yield {
            **tool_result,
            "kind": "tool_call",
            "line": line + 2,
            "name": tool,
            "input": tool_input,
        }
        yield tool_result
    lost_id = f"lost{number}"
    yield {
        "kind": "tool_call", "line": line + 4, "id": lost_id, "name": "Write", "input": {"x": long}
    }  # fmt: skip
    yield {"kind": "pull_request", "line": line + 5, "text": f"https://example.com/pull/{number}"}
    yield {"kind": "bad_line", "line": line + 6}


def test_the_size_of_a_state_is_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # With the real limit the test would spend most of its time on files.
    monkeypatch.setattr(file_history, "MAX_FILES", 300)
    state, sizes = new_state(), []
    for stretch in range(8):
        numbers = range(10_000 + 300 * stretch, 10_300 + 300 * stretch)
        state = fold(state, (event for number in numbers for event in turn_events(number)))
        sizes.append(len(to_json(state)))
    assert max(sizes[2:]) - min(sizes[2:]) < 500
    assert sizes[-1] < 300_000
