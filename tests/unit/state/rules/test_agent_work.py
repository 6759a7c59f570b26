"""What sub-agents do is told of them, and never of the session."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.state.model import Agent
from holdfast.state.rules.agents import LONGEST_RESULT, MOST_FILES
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
    used,
    user,
)

STARTED = call("Task", {"subagent_type": "Explore", "description": "Find callers"}, "t1")
OTHER = call("Task", {"subagent_type": "Explore", "description": "Find tests"}, "t2")
LAUNCHED = result("launched", detail={"status": "async_launched", "agentId": "a1"}, ident="t1")
EDIT = used("Edit", {"file_path": f"{ROOT}/src/a.py"}, detail={"filePath": f"{ROOT}/src/a.py"})
READ = used("Read", {"file_path": f"{ROOT}/src/b.py"})
CREATE = used("Write", {"file_path": f"{ROOT}/src/c.py"}, detail={"type": "create"})
FAILED = used("Edit", {"file_path": f"{ROOT}/src/d.py"}, ok=False)


def inline(*lines: Line, **fields: Any) -> list[Line]:
    return [{**one, "isSidechain": True, **fields} for one in lines]


def progress(*lines: Line, agent: str = "", parent: str = "t1") -> list[Line]:
    """As some versions repeat a sub-agent's messages in the main log."""
    return [
        line(
            "progress",
            data={"type": "agent_progress", "agentId": agent, "message": one},
            parentToolUseID=parent,
        )
        for one in lines
    ]


def agents(*lines: Line) -> list[Agent]:
    return state_of(*lines)["agents"]


DID = {"src/a.py": "edited", "src/b.py": "read", "src/c.py": "created"}


@pytest.mark.parametrize(
    "lines",
    [
        [STARTED, *inline(*EDIT, *READ, *CREATE, *FAILED)],
        [STARTED, LAUNCHED, *inline(*EDIT, *READ, *CREATE, *FAILED, agentId="a1")],
        [STARTED, *progress(*EDIT, *READ, *CREATE, *FAILED)],
        [STARTED, *progress(*EDIT, *READ, *CREATE, *FAILED, agent="a1")],
        [STARTED, LAUNCHED, *progress(*EDIT, *READ, *CREATE, *FAILED, agent="a1", parent="")],
    ],
    ids=["inline", "inline with an id", "progress", "progress with an id", "progress by id"],
)
def test_an_agents_files_are_told_of_it_and_not_of_the_session(lines: list[Line]) -> None:
    state = state_of(*lines)
    assert [agent["files"] for agent in state["agents"]] == [DID]
    assert (state["files"], state["agent_calls"]) == ({}, {})


@pytest.mark.parametrize(
    "lines",
    [
        inline(*bash("pytest", "1 failed", ok=False), *bash("git commit -m x", "[main 3f2c1ab] x")),
        progress(*bash("pytest", "1 failed", ok=False), reply("I decided to use threads here.")),
        inline(user("Never push."), reply("Shall I go on?"), reply("I'm blocked by a key.")),
        progress(user("Never push."), *used("TodoWrite", {"todos": [{"content": "a"}]})),
        inline(call("Task", {"description": "an agent's agent"}, "t9")),
    ],
)
def test_nothing_that_an_agent_says_or_does_is_the_sessions(lines: list[Line]) -> None:
    with_it, without = state_of(STARTED, *lines), state_of(STARTED)
    for part in ("requests", "rules", "decisions", "plan", "files", "checks", "commits"):
        assert with_it[part] == without[part]  # type: ignore[literal-required]
    for part in ("questions", "blockers", "doing", "usage", "place", "last_speaker", "calls"):
        assert with_it[part] == without[part]  # type: ignore[literal-required]
    assert len(with_it["agents"]) == 1


@pytest.mark.parametrize(
    "lines", [inline(reply("Two so\n far.")), progress(reply("Two so far."), agent="a1")]
)
def test_an_agent_that_runs_is_known_by_its_id_and_its_last_words(lines: list[Line]) -> None:
    (agent,) = agents(STARTED, LAUNCHED, *lines)
    assert (agent["id"], agent["call"], agent["status"]) == ("a1", "t1", "running")
    assert agent["result"] == "Two so far."


def test_what_an_agent_says_after_its_end_does_not_replace_its_findings() -> None:
    done = result("Two callers.", ident="t1", detail={"status": "completed", "agentId": "a1"})
    (agent,) = agents(STARTED, done, *progress(reply("late"), agent="a1"))
    assert (agent["status"], agent["result"]) == ("completed", "Two callers.")


def test_agents_that_run_side_by_side_keep_their_files_apart() -> None:
    lines = [STARTED, OTHER, *progress(*EDIT, parent="t1"), *progress(*READ, parent="t2")]
    assert [agent["files"] for agent in agents(*lines)] == [
        {"src/a.py": "edited"},
        {"src/b.py": "read"},
    ]


def test_an_old_inline_agent_without_a_name_is_the_one_that_runs() -> None:
    done = result("first", ident="t1")
    told = agents(STARTED, done, OTHER, *inline(*EDIT))
    assert [agent["files"] for agent in told] == [{}, {"src/a.py": "edited"}]
    assert agents(STARTED, done, *inline(*EDIT))[0]["files"] == {}


def test_an_agent_nobody_started_is_nobodys() -> None:
    state = state_of(*inline(*EDIT, reply("Done."), agentId="zz"), *progress(*EDIT, parent="zz"))
    assert (state["agents"], state["files"]) == ([], {})


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {"type": "agent_progress"},
        {"type": "agent_progress", "message": "text"},
        {"type": "agent_progress", "message": {"type": "user", "message": 7}},
        {"type": "agent_progress", "message": {"message": {"content": [7]}}, "agentId": 7},
        {"type": "hook_progress", "message": EDIT[0]},
        {"type": "bash_progress", "output": "x"},
    ],
)
def test_progress_of_any_other_shape_says_nothing(data: Any) -> None:
    assert agents(STARTED, line("progress", data=data)) == agents(STARTED)


def test_having_changed_a_file_outweighs_having_read_it_and_their_number_is_bounded() -> None:
    reads = [
        step
        for number in range(MOST_FILES + 5)
        for step in used("Read", {"file_path": f"{ROOT}/{number}.py"})
    ]
    (agent,) = agents(STARTED, *inline(*EDIT, *reads, *CREATE))
    assert len(agent["files"]) == MOST_FILES
    assert agent["files"]["src/a.py"] == "edited"
    assert agent["files"]["src/c.py"] == "created"


def task(**told: Any) -> Line:
    return {"task": {"task_id": "a1", **told}}


ASK: list[tuple[str, Any, str, str]] = [
    ("TaskOutput", task(status="completed", result="Two."), "completed", "Two."),
    ("TaskOutput", task(status="completed", output="Two."), "completed", "Two."),
    ("TaskOutput", task(status="running", output="half"), "running", ""),
    ("TaskOutput", {"retrieval_status": "timeout", "task": None}, "running", ""),
    ("TaskOutput", task(task_id="b2", status="completed"), "running", ""),
    ("AgentOutputTool", task(status="failed"), "failed", ""),
    ("TaskStop", {"task_id": "a1", "message": "stopped"}, "stopped", ""),
    ("TaskStop", "gone", "running", ""),
]


@pytest.mark.parametrize(("tool", "detail", "status", "said"), ASK)
def test_asking_about_an_agent_tells_how_it_stands(
    tool: str, detail: Any, status: str, said: str
) -> None:
    (agent,) = agents(STARTED, LAUNCHED, *used(tool, {"task_id": "a1"}, detail=detail))
    assert (agent["id"], agent["status"], agent["result"]) == ("a1", status, said)


def test_an_agent_that_is_sent_a_message_runs_again() -> None:
    done = result("Two.", ident="t1", detail={"status": "completed", "agentId": "a1"})
    sent = used("SendMessage", {"to": "a1"}, detail={"resumedAgentId": "a1"})
    (agent,) = agents(STARTED, done, *sent)
    assert (agent["status"], agent["result"], agent["line"]) == ("running", "Two.", 4)


def test_an_asking_that_failed_changes_nothing() -> None:
    asked = used("TaskStop", {"task_id": "a1"}, ok=False, detail={"task_id": "a1"})
    assert agents(STARTED, LAUNCHED, *asked)[0]["status"] == "running"


def test_words_of_an_agent_are_cut_and_without_secrets() -> None:
    secret = "ghp_" + "a1B2" * 9
    (agent,) = agents(STARTED, *inline(reply(f"{secret} " + "x" * 5000)))
    assert agent["result"].startswith("[redacted:github-token]")
    assert len(agent["result"]) == LONGEST_RESULT


def test_several_blocks_of_one_message_are_all_heard() -> None:
    both = inline(reply("First."))[0]
    both["message"] = {**both["message"], "content": [text("First."), text("Last.")]}
    assert agents(STARTED, both)[0]["result"] == "Last."
