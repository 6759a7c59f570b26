"""The separate logs of sub-agents: found by a safe id, and read once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from holdfast.state.fold import advance, new_state
from holdfast.state.types import State, Subagent
from holdfast.transcript import subagent_logs
from holdfast.transcript.decoder import decode
from holdfast.transcript.subagent_logs import find_subagent_log, merge_subagent_events
from tests.unit.transcript_lines import (
    ROOT,
    Line,
    call,
    numbered,
    raw,
    reply,
    result,
    used,
    user,
)
from tests.unit.unreadable import folder, garbage, nothing, pipe

ASKED = {"subagent_type": "Explore", "description": "Find callers"}
STARTED = call("Task", ASKED)
CAME_BACK = result("Two callers.", detail={"status": "completed", "agentId": "a91b"})
LAUNCHED = result("launched", detail={"status": "async_launched", "agentId": "a91b"})
NOTICE = user(
    "<task-notification>\n<task-id>a91b</task-id>\n<status>completed</status>\n"
    "<result></result>\n</task-notification>"
)
WORK: list[Line] = [
    user("Find callers"),
    *used("Read", {"file_path": f"{ROOT}/src/a.py"}),
    *used("Edit", {"file_path": f"{ROOT}/src/a.py"}),
    *used("Read", {"file_path": f"{ROOT}/src/a.py"}),
    *used("Write", {"file_path": f"{ROOT}/src/b.py"}),
    *used("Write", {"file_path": f"{ROOT}/src/new.py"}, detail={"type": "create"}),
    *used("NotebookEdit", {"notebook_path": "/srv/other/c.ipynb"}),
    *used("Edit", {"file_path": f"{ROOT}/src/refused.py"}, ok=False),
    call("Edit", {"file_path": f"{ROOT}/src/unknown.py"}),
    *used("Glob", {"file_path": f"{ROOT}/src/listed.py"}),
    *used("Read", {"file_path": 7}),
    reply("Looking."),
    reply("There are two callers, both in b.py."),
]


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return tmp_path / "5e55.jsonl"


def beside(session: Path) -> Path:
    return session.with_name("agent-a91b.jsonl")


def below(session: Path) -> Path:
    return session.with_suffix("") / "subagents" / "agent-a91b.jsonl"


def write(file: Path, lines: list[Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"".join(raw(line) + b"\n" for line in lines))


def folded(session: Path, *lines: Line) -> State:
    state = new_state()
    advance(state, merge_subagent_events(decode(numbered(lines)), str(session)))
    return state


def agent(session: Path, *lines: Line) -> Subagent:
    (only,) = folded(session, *lines)["agents"]
    return only


@pytest.mark.parametrize("where", [beside, below])
@pytest.mark.parametrize("lines", [[STARTED, CAME_BACK], [STARTED, LAUNCHED, NOTICE]])
def test_a_sub_agents_log_is_read_when_it_ends(
    session: Path, where: Any, lines: list[Line]
) -> None:
    write(where(session), WORK)
    assert agent(session, *lines)["files"] == {
        "src/a.py": "edited",
        "src/b.py": "edited",
        "src/new.py": "created",
        "/srv/other/c.ipynb": "edited",
    }


def test_the_final_reply_replaces_an_empty_result(session: Path) -> None:
    write(beside(session), WORK)
    words = "There are two callers, both in b.py."
    assert agent(session, STARTED, LAUNCHED, NOTICE)["result"] == words
    assert agent(session, STARTED, CAME_BACK)["result"] == "Two callers."


def test_a_sub_agents_work_is_not_the_sessions(session: Path) -> None:
    write(beside(session), [*WORK, user("Never push.", isSidechain=True)])
    state = folded(session, STARTED, CAME_BACK)
    assert (state["files"], state["requests"], state["rules"]) == ({}, [], [])
    assert (state["lines"], state["calls"], state["agent_calls"]) == (2, {}, {})


@pytest.mark.parametrize("lines", [[STARTED], [STARTED, LAUNCHED]])
def test_the_log_of_a_running_agent_is_not_read(session: Path, lines: list[Line]) -> None:
    write(beside(session), WORK)
    assert agent(session, *lines)["files"] == {}


def test_an_agents_log_is_read_once(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(beside(session), WORK)
    opened: list[str] = []
    real = subagent_logs._read_events
    monkeypatch.setattr(
        subagent_logs, "_read_events", lambda path: opened.append(path) or real(path)
    )
    folded(session, STARTED, LAUNCHED, NOTICE, reply("So."), *used("Read", {}), user("go on"))
    assert opened == [str(beside(session))]


@pytest.mark.parametrize(
    "ident", ["", "..", "../secret", "a/b", "a\\b", "/etc/passwd", "a\0b", "a.b", "ä", "a b"]
)
def test_an_id_that_could_be_a_path_is_refused(tmp_path: Path, ident: str) -> None:
    session = tmp_path / "inner" / "5e55.jsonl"
    for name in ("secret.jsonl", "agent-..jsonl", "agent-a.b.jsonl", "agent-.jsonl"):
        write(session.parent / name, WORK)
    (session.parent / "agent-").mkdir()
    write(tmp_path / "secret.jsonl", WORK)
    assert find_subagent_log(str(session), ident) == ""


def loop(file: Path) -> None:
    file.symlink_to(file)


def empty(file: Path) -> None:
    file.touch()


@pytest.mark.parametrize("make", [nothing, garbage, folder, pipe, loop, empty])
def test_an_unreadable_log_leaves_the_main_logs_facts(session: Path, make: Any) -> None:
    make(beside(session))
    finished = agent(session, STARTED, CAME_BACK)
    assert (finished["status"], finished["result"], finished["files"]) == (
        "completed",
        "Two callers.",
        {},
    )


def test_a_log_that_is_too_large_is_not_read(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(beside(session), WORK)
    monkeypatch.setattr(subagent_logs, "MAX_LOG_BYTES", beside(session).stat().st_size - 1)
    assert agent(session, STARTED, CAME_BACK)["files"] == {}
    monkeypatch.setattr(subagent_logs, "MAX_LOG_BYTES", beside(session).stat().st_size)
    assert agent(session, STARTED, CAME_BACK)["files"] != {}


def test_a_log_that_vanishes_while_it_is_opened_is_no_error(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(beside(session), WORK)
    real = subagent_logs._read_events

    def gone(path: str) -> Any:
        os.unlink(path)
        return real(path)

    monkeypatch.setattr(subagent_logs, "_read_events", gone)
    assert agent(session, STARTED, CAME_BACK)["result"] == "Two callers."


@pytest.mark.parametrize("detail", [None, "text", [], {"agentId": 7}, {"agentId": ["a91b"]}])
def test_a_result_that_names_no_agent_reads_nothing(session: Path, detail: Any) -> None:
    write(beside(session), WORK)
    assert agent(session, STARTED, result("x", detail=detail))["files"] == {}
