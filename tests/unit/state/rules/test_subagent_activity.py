"""The activity of a sub-agent is recorded for that agent and not for the session."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.state.rules.subagents import MAX_FILES_PER_AGENT, MAX_RESULT_CHARS
from holdfast.state.types import Subagent
from tests.unit.transcript_lines import (
    ROOT,
    Line,
    bash,
    call,
    line,
    reply,
    result,
    state_of,
    text,
    tool_use,
    user,
)

AGENT_CALL = call("Task", {"subagent_type": "Explore", "description": "Find callers"}, "t1")
SECOND_AGENT_CALL = call("Task", {"subagent_type": "Explore", "description": "Find tests"}, "t2")
LAUNCH_RESULT = result(
    "launched", detail={"status": "async_launched", "agentId": "a1"}, call_id="t1"
)
EDIT = tool_use("Edit", {"file_path": f"{ROOT}/src/a.py"}, detail={"filePath": f"{ROOT}/src/a.py"})
READ = tool_use("Read", {"file_path": f"{ROOT}/src/b.py"})
CREATE = tool_use("Write", {"file_path": f"{ROOT}/src/c.py"}, detail={"type": "create"})
FAILED_EDIT = tool_use("Edit", {"file_path": f"{ROOT}/src/d.py"}, ok=False)


def inline(*lines: Line, **fields: Any) -> list[Line]:
    return [{**entry, "isSidechain": True, **fields} for entry in lines]


def progress(*lines: Line, agent: str = "", parent: str = "t1") -> list[Line]:
    """Progress lines, in which some client versions repeat a sub-agent's messages."""
    return [
        line(
            "progress",
            data={"type": "agent_progress", "agentId": agent, "message": entry},
            parentToolUseID=parent,
        )
        for entry in lines
    ]


def agents(*lines: Line) -> list[Subagent]:
    return state_of(*lines)["agents"]


AGENT_FILES = {"src/a.py": "edited", "src/b.py": "read", "src/c.py": "created"}


@pytest.mark.parametrize(
    "lines",
    [
        [AGENT_CALL, *inline(*EDIT, *READ, *CREATE, *FAILED_EDIT)],
        [AGENT_CALL, LAUNCH_RESULT, *inline(*EDIT, *READ, *CREATE, *FAILED_EDIT, agentId="a1")],
        [AGENT_CALL, *progress(*EDIT, *READ, *CREATE, *FAILED_EDIT)],
        [AGENT_CALL, *progress(*EDIT, *READ, *CREATE, *FAILED_EDIT, agent="a1")],
        [
            AGENT_CALL,
            LAUNCH_RESULT,
            *progress(*EDIT, *READ, *CREATE, *FAILED_EDIT, agent="a1", parent=""),
        ],
    ],
    ids=["inline", "inline with an id", "progress", "progress with an id", "progress by id"],
)
def test_an_agents_files_are_recorded_for_it_and_not_for_the_session(lines: list[Line]) -> None:
    state = state_of(*lines)
    assert [agent["files"] for agent in state["agents"]] == [AGENT_FILES]
    assert (state["files"], state["agent_calls"]) == ({}, {})


@pytest.mark.parametrize(
    "lines",
    [
        inline(*bash("pytest", "1 failed", ok=False), *bash("git commit -m x", "[main 3f2c1ab] x")),
        progress(*bash("pytest", "1 failed", ok=False), reply("I decided to use threads here.")),
        inline(user("Never push."), reply("Shall I go on?"), reply("I'm blocked by a key.")),
        progress(user("Never push."), *tool_use("TodoWrite", {"todos": [{"content": "a"}]})),
        inline(call("Task", {"description": "an agent's agent"}, "t9")),
    ],
)
def test_a_sub_agents_events_change_no_other_part_of_the_state(lines: list[Line]) -> None:
    with_events, without = state_of(AGENT_CALL, *lines), state_of(AGENT_CALL)
    for part in ("requests", "rules", "decisions", "plan", "files", "checks", "commits"):
        assert with_events[part] == without[part]  # type: ignore[literal-required]
    for part in ("questions", "blockers", "doing", "usage", "place", "calls"):
        assert with_events[part] == without[part]  # type: ignore[literal-required]
    assert len(with_events["agents"]) == 1


@pytest.mark.parametrize(
    "lines", [inline(reply(" Two so far.\n")), progress(reply("Two so far."), agent="a1")]
)
def test_a_running_agent_has_its_id_and_last_reply(lines: list[Line]) -> None:
    (agent,) = agents(AGENT_CALL, LAUNCH_RESULT, *lines)
    assert (agent["id"], agent["call"], agent["status"]) == ("a1", "t1", "running")
    assert agent["result"] == "Two so far."


def test_a_reply_after_the_end_of_an_agent_does_not_replace_its_result() -> None:
    final_result = result(
        "Two callers.", call_id="t1", detail={"status": "completed", "agentId": "a1"}
    )
    (agent,) = agents(AGENT_CALL, final_result, *progress(reply("late"), agent="a1"))
    assert (agent["status"], agent["result"]) == ("completed", "Two callers.")


def test_agents_that_run_side_by_side_keep_their_files_apart() -> None:
    lines = [
        AGENT_CALL,
        SECOND_AGENT_CALL,
        *progress(*EDIT, parent="t1"),
        *progress(*READ, parent="t2"),
    ]
    assert [agent["files"] for agent in agents(*lines)] == [
        {"src/a.py": "edited"},
        {"src/b.py": "read"},
    ]


def test_inline_lines_without_an_agent_id_belong_to_the_running_agent() -> None:
    final_result = result("first", call_id="t1")
    both_agents = agents(AGENT_CALL, final_result, SECOND_AGENT_CALL, *inline(*EDIT))
    assert [agent["files"] for agent in both_agents] == [{}, {"src/a.py": "edited"}]
    assert agents(AGENT_CALL, final_result, *inline(*EDIT))[0]["files"] == {}


def test_lines_of_an_unknown_agent_are_ignored() -> None:
    state = state_of(*inline(*EDIT, reply("Done."), agentId="zz"), *progress(*EDIT, parent="zz"))
    assert (state["agents"], state["files"]) == ([], {})


def test_malformed_progress_is_ignored() -> None:
    cases = [
        None,
        [],
        {"type": "agent_progress"},
        {"type": "agent_progress", "message": "text"},
        {"type": "agent_progress", "message": {"type": "user", "message": 7}},
        {"type": "agent_progress", "message": {"message": {"content": [7]}}, "agentId": 7},
        {"type": "hook_progress", "message": EDIT[0]},
        {"type": "bash_progress", "output": "x"},
    ]
    for data in cases:
        assert agents(AGENT_CALL, line("progress", data=data)) == agents(AGENT_CALL), data


def test_changed_files_are_kept_before_read_files() -> None:
    reads = [
        line
        for number in range(MAX_FILES_PER_AGENT + 5)
        for line in tool_use("Read", {"file_path": f"{ROOT}/{number}.py"})
    ]
    (agent,) = agents(AGENT_CALL, *inline(*EDIT, *reads, *CREATE))
    assert len(agent["files"]) == MAX_FILES_PER_AGENT
    assert agent["files"]["src/a.py"] == "edited"
    assert agent["files"]["src/c.py"] == "created"


def task(**fields: Any) -> Line:
    return {"task": {"task_id": "a1", **fields}}


STATUS_CALLS: list[tuple[str, Any, str, str]] = [
    ("TaskOutput", task(status="completed", result="Two."), "completed", "Two."),
    ("TaskOutput", task(status="completed", output="Two."), "completed", "Two."),
    ("TaskOutput", task(status="running", output="half"), "running", ""),
    ("TaskOutput", {"retrieval_status": "timeout", "task": None}, "running", ""),
    ("TaskOutput", task(task_id="b2", status="completed"), "running", ""),
    ("AgentOutputTool", task(status="failed"), "failed", ""),
    ("TaskStop", {"task_id": "a1", "message": "stopped"}, "stopped", ""),
    ("TaskStop", "gone", "running", ""),
]


def test_a_status_call_updates_the_status_of_an_agent() -> None:
    for tool, detail, status, report in STATUS_CALLS:
        (agent,) = agents(
            AGENT_CALL, LAUNCH_RESULT, *tool_use(tool, {"task_id": "a1"}, detail=detail)
        )
        assert (agent["id"], agent["status"], agent["result"]) == ("a1", status, report), (
            tool,
            detail,
        )


def test_an_agent_that_gets_a_message_is_running_again() -> None:
    final_result = result("Two.", call_id="t1", detail={"status": "completed", "agentId": "a1"})
    message = tool_use("SendMessage", {"to": "a1"}, detail={"resumedAgentId": "a1"})
    (agent,) = agents(AGENT_CALL, final_result, *message)
    assert (agent["status"], agent["result"], agent["line"]) == ("running", "Two.", 4)


def test_a_failed_status_call_changes_nothing() -> None:
    failed_stop = tool_use("TaskStop", {"task_id": "a1"}, ok=False, detail={"task_id": "a1"})
    assert agents(AGENT_CALL, LAUNCH_RESULT, *failed_stop)[0]["status"] == "running"


def test_an_agents_reply_is_clipped_and_redacted() -> None:
    secret = "ghp_" + "a1B2" * 9
    (agent,) = agents(AGENT_CALL, *inline(reply(f"{secret} " + "x" * 5000)))
    assert agent["result"].startswith("[redacted:github-token]")
    assert len(agent["result"]) == MAX_RESULT_CHARS


def test_all_blocks_of_a_message_are_read() -> None:
    two_blocks = inline(reply("First."))[0]
    two_blocks["message"] = {**two_blocks["message"], "content": [text("First."), text("Last.")]}
    assert agents(AGENT_CALL, two_blocks)[0]["result"] == "Last."
