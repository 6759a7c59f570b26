"""Sub-agents: their tasks, statuses and results."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.state.rules.subagents import MAX_AGENTS, MAX_RESULT_CHARS
from holdfast.state.types import Subagent
from tests.unit.transcript_lines import Line, call, result, state_of, text, user

AGENT_INPUT = {
    "subagent_type": "Explore",
    "description": "Find callers",
    "prompt": "Find every caller",
}


def agents(*lines: Line) -> list[Subagent]:
    return state_of(*lines)["agents"]


@pytest.mark.parametrize("tool", ["Agent", "Task"])
def test_an_agent_is_running_from_its_call_on(tool: str) -> None:
    assert agents(call(tool, AGENT_INPUT)) == [
        {
            "id": "toolu_1",
            "call": "toolu_1",
            "type": "Explore",
            "task": "Find callers",
            "status": "running",
            "result": "",
            "files": {},
            "line": 1,
            "source_line": 1,
        }
    ]


@pytest.mark.parametrize(
    ("content", "ok", "detail", "status", "report"),
    [
        ("Two callers.", True, None, "completed", "Two callers."),
        ([text("Two callers.")], True, {"status": "completed"}, "completed", "Two callers."),
        (
            "wrapped",
            True,
            {"content": [text("tools used"), text("Two callers.\n"), text(" ")]},
            "completed",
            "Two callers.",
        ),
        ("Error: timeout", False, "Error: timeout", "failed", "Error: timeout"),
        ("Launched", True, {"status": "async_launched"}, "running", ""),
        ("x", True, {"content": "odd"}, "completed", "x"),
        ("x", True, {"content": [7, {"type": "text"}]}, "completed", "x"),
    ],
)
def test_an_agents_result_is_its_final_reply(
    content: Any, ok: bool, detail: Any, status: str, report: str
) -> None:
    (agent,) = agents(call("Agent", AGENT_INPUT), result(content, ok=ok, detail=detail))
    assert (agent["status"], agent["result"], agent["line"]) == (status, report, 2)


@pytest.mark.parametrize(
    ("tool_input", "task", "kind"),
    [
        ({"prompt": "Find every caller"}, "Find every caller", ""),
        ({}, "", ""),
        ({"description": 7, "subagent_type": None}, "7", ""),
        ({"description": "x" * 500}, "x" * 199 + "…", ""),
    ],
)
def test_an_agents_task_is_its_description_or_prompt(
    tool_input: Line, task: str, kind: str
) -> None:
    (agent,) = agents(call("Agent", tool_input))
    assert (agent["task"], agent["type"]) == (task, kind)


def test_an_agent_gets_its_own_id_from_the_result() -> None:
    (agent,) = agents(call("Agent", AGENT_INPUT), result("x", detail={"agentId": "a91b"}))
    assert agent["id"] == "a91b"


def test_agents_that_run_side_by_side_get_their_own_results() -> None:
    calls = [call("Agent", AGENT_INPUT, "t1"), call("Agent", AGENT_INPUT, "t2")]
    both_agents = agents(*calls, result("second", call_id="t2"), result("first", call_id="t1"))
    assert [agent["result"] for agent in both_agents] == ["first", "second"]


def test_agents_started_by_sub_agents_are_not_recorded() -> None:
    assert agents(call("Agent", AGENT_INPUT, isSidechain=True)) == []


def test_other_tools_are_not_agents() -> None:
    assert agents(call("TaskCreate", AGENT_INPUT), result("x")) == []


def test_a_long_report_is_cut_and_the_newest_agents_are_kept() -> None:
    lines: list[Line] = []
    for n in range(MAX_AGENTS + 5):
        lines += [call("Agent", {"description": f"task {n}"}), result(f"{n} " + "x" * 5000)]
    kept = agents(*lines)
    assert len(kept) == MAX_AGENTS
    assert kept[0]["task"] == "task 5"
    assert max(len(agent["result"]) for agent in kept) == MAX_RESULT_CHARS


def notification(ident: str, status: str = "completed", report: str = "Two callers.") -> Line:
    return user(
        f"<task-notification>\n<task-id>{ident}</task-id>\n<status>{status}</status>\n"
        f'<summary>Agent "Find callers" {status}</summary>\n<result>{report}</result>\n'
        "</task-notification>"
    )


LAUNCH_DETAIL = {"status": "async_launched", "agentId": "a65c365", "isAsync": True}


@pytest.mark.parametrize("status", ["completed", "failed", "killed"])
def test_a_notification_sets_the_status_of_a_background_agent(status: str) -> None:
    lines = [
        call("Agent", AGENT_INPUT),
        result("launched", detail=LAUNCH_DETAIL),
        notification("a65c365", status),
    ]
    (agent,) = agents(*lines)
    assert (agent["status"], agent["result"], agent["line"]) == (status, "Two callers.", 3)


def test_a_notification_is_no_request() -> None:
    assert state_of(notification("a65c365"))["requests"] == []


def test_a_notification_of_an_unknown_agent_changes_nothing() -> None:
    lines = [
        call("Agent", AGENT_INPUT),
        result("launched", detail=LAUNCH_DETAIL),
        notification("b1"),
    ]
    assert agents(*lines)[0]["status"] == "running"
