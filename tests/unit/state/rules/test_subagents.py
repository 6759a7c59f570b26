"""Sub-agents: their tasks, statuses and results."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.state.rules.subagents import MAX_AGENTS
from holdfast.state.types import Subagent
from tests.unit.transcript_lines import Line, call, result, state_of, text, user

ASKED = {"subagent_type": "Explore", "description": "Find callers", "prompt": "Find every caller"}


def agents(*lines: Line) -> list[Subagent]:
    return state_of(*lines)["agents"]


@pytest.mark.parametrize("tool", ["Agent", "Task"])
def test_an_agent_runs_from_its_call_on(tool: str) -> None:
    assert agents(call(tool, ASKED)) == [
        {
            "id": "toolu_1",
            "call": "toolu_1",
            "type": "Explore",
            "task": "Find callers",
            "status": "running",
            "result": "",
            "files": {},
            "line": 1,
            "told": 1,
        }
    ]


@pytest.mark.parametrize(
    ("content", "ok", "detail", "status", "said"),
    [
        ("Two callers.", True, None, "completed", "Two callers."),
        ([text("Two callers.")], True, {"status": "completed"}, "completed", "Two callers."),
        (
            "wrapped",
            True,
            {"content": [text("tools used"), text("Two\n  callers."), text(" ")]},
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
    content: Any, ok: bool, detail: Any, status: str, said: str
) -> None:
    (agent,) = agents(call("Agent", ASKED), result(content, ok=ok, detail=detail))
    assert (agent["status"], agent["result"], agent["line"]) == (status, said, 2)


@pytest.mark.parametrize(
    ("given", "task", "kind"),
    [
        ({"prompt": "Find every caller"}, "Find every caller", ""),
        ({}, "", ""),
        ({"description": 7, "subagent_type": None}, "7", ""),
        ({"description": "x" * 500}, "x" * 199 + "…", ""),
    ],
)
def test_an_agents_task_is_its_description_or_prompt(given: Line, task: str, kind: str) -> None:
    (agent,) = agents(call("Agent", given))
    assert (agent["task"], agent["type"]) == (task, kind)


def test_an_agent_gets_its_own_id_from_the_result() -> None:
    (agent,) = agents(call("Agent", ASKED), result("x", detail={"agentId": "a91b"}))
    assert agent["id"] == "a91b"


def test_agents_that_run_side_by_side_are_told_apart() -> None:
    one, two = call("Agent", ASKED, "t1"), call("Agent", ASKED, "t2")
    known = agents(one, two, result("second", ident="t2"), result("first", ident="t1"))
    assert [agent["result"] for agent in known] == ["first", "second"]


def test_agents_of_sub_agents_are_not_the_sessions() -> None:
    assert agents(call("Agent", ASKED, isSidechain=True)) == []


def test_other_tools_are_not_agents() -> None:
    assert agents(call("TaskCreate", ASKED), result("x")) == []


def test_a_long_report_is_cut_and_the_newest_agents_are_kept() -> None:
    lines: list[Line] = []
    for n in range(MAX_AGENTS + 5):
        lines += [call("Agent", {"description": f"task {n}"}), result(f"{n} " + "x" * 5000)]
    known = agents(*lines)
    assert len(known) == MAX_AGENTS
    assert known[0]["task"] == "task 5"
    assert max(len(agent["result"]) for agent in known) == 600


def notice(ident: str, status: str = "completed", said: str = "Two callers.") -> Line:
    return user(
        f"<task-notification>\n<task-id>{ident}</task-id>\n<status>{status}</status>\n"
        f'<summary>Agent "Find callers" {status}</summary>\n<result>{said}</result>\n'
        "</task-notification>"
    )


LAUNCHED = {"status": "async_launched", "agentId": "a65c365", "isAsync": True}


@pytest.mark.parametrize("status", ["completed", "failed", "killed"])
def test_an_agent_in_the_background_is_done_when_the_client_says_so(status: str) -> None:
    lines = [call("Agent", ASKED), result("launched", detail=LAUNCHED), notice("a65c365", status)]
    (agent,) = agents(*lines)
    assert (agent["status"], agent["result"], agent["line"]) == (status, "Two callers.", 3)


def test_a_notice_is_no_request() -> None:
    assert state_of(notice("a65c365"))["requests"] == []


def test_a_notice_of_an_unknown_agent_changes_nothing() -> None:
    lines = [call("Agent", ASKED), result("launched", detail=LAUNCHED), notice("b1")]
    assert agents(*lines)[0]["status"] == "running"
