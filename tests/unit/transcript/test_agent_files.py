"""The logs that sub-agents keep beside the session's: found, read once, and never trusted."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from holdfast.state.fold import advance, new_state
from holdfast.state.model import Agent, State
from holdfast.transcript import agent_files
from holdfast.transcript.agent_files import agent_file, with_agents
from holdfast.transcript.events import decode
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
    advance(state, with_agents(decode(numbered(lines)), str(session)))
    return state


def agent(session: Path, *lines: Line) -> Agent:
    (only,) = folded(session, *lines)["agents"]
    return only


@pytest.mark.parametrize("where", [beside, below])
@pytest.mark.parametrize("lines", [[STARTED, CAME_BACK], [STARTED, LAUNCHED, NOTICE]])
def test_what_an_agent_did_to_files_is_read_when_it_comes_back(
    session: Path, where: Any, lines: list[Line]
) -> None:
    write(where(session), WORK)
    assert agent(session, *lines)["files"] == {
        "src/a.py": "edited",
        "src/b.py": "edited",
        "src/new.py": "created",
        "/srv/other/c.ipynb": "edited",
    }


def test_its_own_last_words_stand_in_for_a_result_that_says_nothing(session: Path) -> None:
    write(beside(session), WORK)
    words = "There are two callers, both in b.py."
    assert agent(session, STARTED, LAUNCHED, NOTICE)["result"] == words
    assert agent(session, STARTED, CAME_BACK)["result"] == "Two callers."


def test_its_work_is_not_the_sessions(session: Path) -> None:
    write(beside(session), [*WORK, user("Never push.", isSidechain=True)])
    state = folded(session, STARTED, CAME_BACK)
    assert (state["files"], state["requests"], state["rules"]) == ({}, [], [])
    assert (state["lines"], state["calls"], state["agent_calls"]) == (2, {}, {})


@pytest.mark.parametrize("lines", [[STARTED], [STARTED, LAUNCHED]])
def test_an_agent_that_still_runs_is_not_looked_at(session: Path, lines: list[Line]) -> None:
    write(beside(session), WORK)
    assert agent(session, *lines)["files"] == {}


def test_an_agents_log_is_read_once(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(beside(session), WORK)
    opened: list[str] = []
    real = agent_files._events
    monkeypatch.setattr(agent_files, "_events", lambda path: opened.append(path) or real(path))
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
    assert agent_file(str(session), ident) == ""


def loop(file: Path) -> None:
    file.symlink_to(file)


def empty(file: Path) -> None:
    file.touch()


@pytest.mark.parametrize("make", [nothing, garbage, folder, pipe, loop, empty])
def test_a_log_that_cannot_be_read_leaves_what_the_main_one_says(session: Path, make: Any) -> None:
    make(beside(session))
    told = agent(session, STARTED, CAME_BACK)
    assert (told["status"], told["result"], told["files"]) == ("completed", "Two callers.", {})


def test_a_log_that_is_too_large_is_left_alone(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(beside(session), WORK)
    monkeypatch.setattr(agent_files, "LARGEST", beside(session).stat().st_size - 1)
    assert agent(session, STARTED, CAME_BACK)["files"] == {}
    monkeypatch.setattr(agent_files, "LARGEST", beside(session).stat().st_size)
    assert agent(session, STARTED, CAME_BACK)["files"] != {}


def test_a_log_that_vanishes_while_it_is_opened_is_survived(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(beside(session), WORK)
    real = agent_files._events

    def gone(path: str) -> Any:
        os.unlink(path)
        return real(path)

    monkeypatch.setattr(agent_files, "_events", gone)
    assert agent(session, STARTED, CAME_BACK)["result"] == "Two callers."


@pytest.mark.parametrize("detail", [None, "text", [], {"agentId": 7}, {"agentId": ["a91b"]}])
def test_a_result_that_names_no_agent_reads_nothing(session: Path, detail: Any) -> None:
    write(beside(session), WORK)
    assert agent(session, STARTED, result("x", detail=detail))["files"] == {}
