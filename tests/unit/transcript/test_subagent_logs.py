"""The separate logs of sub-agents are found by the agent's id and read once."""

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
    tool_use,
    user,
)
from tests.unit.unreadable import leave_missing, make_folder, make_pipe, write_garbage

AGENT_CALL = call("Task", {"subagent_type": "Explore", "description": "Find callers"})
FINAL_RESULT = result("Two callers.", detail={"status": "completed", "agentId": "a91b"})
LAUNCH_RESULT = result("launched", detail={"status": "async_launched", "agentId": "a91b"})
NOTIFICATION = user(
    "<task-notification>\n<task-id>a91b</task-id>\n<status>completed</status>\n"
    "<result></result>\n</task-notification>"
)
AGENT_LINES: list[Line] = [
    user("Find callers"),
    *tool_use("Read", {"file_path": f"{ROOT}/src/a.py"}),
    *tool_use("Edit", {"file_path": f"{ROOT}/src/a.py"}),
    *tool_use("Read", {"file_path": f"{ROOT}/src/a.py"}),
    *tool_use("Write", {"file_path": f"{ROOT}/src/b.py"}),
    *tool_use("Write", {"file_path": f"{ROOT}/src/new.py"}, detail={"type": "create"}),
    *tool_use("NotebookEdit", {"notebook_path": "/srv/other/c.ipynb"}),
    *tool_use("Edit", {"file_path": f"{ROOT}/src/refused.py"}, ok=False),
    call("Edit", {"file_path": f"{ROOT}/src/unknown.py"}),
    *tool_use("Glob", {"file_path": f"{ROOT}/src/listed.py"}),
    *tool_use("Read", {"file_path": 7}),
    reply("Looking."),
    reply("There are two callers, both in b.py."),
]


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return tmp_path / "5e55.jsonl"


def log_beside(session: Path) -> Path:
    """The path that older clients use, next to the session's log."""
    return session.with_name("agent-a91b.jsonl")


def log_below(session: Path) -> Path:
    """The path that newer clients use, in a folder of the session."""
    return session.with_suffix("") / "subagents" / "agent-a91b.jsonl"


def write(file: Path, lines: list[Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"".join(raw(line) + b"\n" for line in lines))


def fold_session(session: Path, *lines: Line) -> State:
    state = new_state()
    advance(state, merge_subagent_events(decode(numbered(lines)), str(session)))
    return state


def single_agent(session: Path, *lines: Line) -> Subagent:
    (agent,) = fold_session(session, *lines)["agents"]
    return agent


@pytest.mark.parametrize("log_path", [log_beside, log_below])
@pytest.mark.parametrize(
    "lines", [[AGENT_CALL, FINAL_RESULT], [AGENT_CALL, LAUNCH_RESULT, NOTIFICATION]]
)
def test_a_sub_agents_log_is_read_when_it_ends(
    session: Path, log_path: Any, lines: list[Line]
) -> None:
    write(log_path(session), AGENT_LINES)
    assert single_agent(session, *lines)["files"] == {
        "src/a.py": "edited",
        "src/b.py": "edited",
        "src/new.py": "created",
        "/srv/other/c.ipynb": "edited",
    }


def test_the_final_reply_replaces_an_empty_result(session: Path) -> None:
    write(log_beside(session), AGENT_LINES)
    last_reply = "There are two callers, both in b.py."
    assert single_agent(session, AGENT_CALL, LAUNCH_RESULT, NOTIFICATION)["result"] == last_reply
    assert single_agent(session, AGENT_CALL, FINAL_RESULT)["result"] == "Two callers."


def test_the_log_of_a_sub_agent_does_not_change_the_rest_of_the_state(session: Path) -> None:
    write(log_beside(session), [*AGENT_LINES, user("Never push.", isSidechain=True)])
    state = fold_session(session, AGENT_CALL, FINAL_RESULT)
    assert (state["files"], state["requests"], state["rules"]) == ({}, [], [])
    assert (state["lines"], state["calls"], state["agent_calls"]) == (2, {}, {})


@pytest.mark.parametrize("lines", [[AGENT_CALL], [AGENT_CALL, LAUNCH_RESULT]])
def test_the_log_of_a_running_agent_is_not_read(session: Path, lines: list[Line]) -> None:
    write(log_beside(session), AGENT_LINES)
    assert single_agent(session, *lines)["files"] == {}


def test_an_agents_log_is_read_once(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(log_beside(session), AGENT_LINES)
    opened_paths: list[str] = []
    read_events = subagent_logs._read_events
    monkeypatch.setattr(
        subagent_logs, "_read_events", lambda path: opened_paths.append(path) or read_events(path)
    )
    fold_session(
        session,
        AGENT_CALL,
        LAUNCH_RESULT,
        NOTIFICATION,
        reply("So."),
        *tool_use("Read", {}),
        user("go on"),
    )
    assert opened_paths == [str(log_beside(session))]


@pytest.mark.parametrize(
    "ident", ["", "..", "../secret", "a/b", "a\\b", "/etc/passwd", "a\0b", "a.b", "ä", "a b"]
)
def test_an_id_with_path_characters_finds_no_log(tmp_path: Path, ident: str) -> None:
    session = tmp_path / "inner" / "5e55.jsonl"
    for name in ("secret.jsonl", "agent-..jsonl", "agent-a.b.jsonl", "agent-.jsonl"):
        write(session.parent / name, AGENT_LINES)
    (session.parent / "agent-").mkdir()
    write(tmp_path / "secret.jsonl", AGENT_LINES)
    assert find_subagent_log(str(session), ident) == ""


def make_symlink_loop(file: Path) -> None:
    file.symlink_to(file)


def make_empty_file(file: Path) -> None:
    file.touch()


@pytest.mark.parametrize(
    "prepare",
    [leave_missing, write_garbage, make_folder, make_pipe, make_symlink_loop, make_empty_file],
)
def test_an_unreadable_log_keeps_the_result_of_the_main_log(session: Path, prepare: Any) -> None:
    prepare(log_beside(session))
    finished = single_agent(session, AGENT_CALL, FINAL_RESULT)
    assert (finished["status"], finished["result"], finished["files"]) == (
        "completed",
        "Two callers.",
        {},
    )


def test_a_log_that_is_too_large_is_not_read(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(log_beside(session), AGENT_LINES)
    monkeypatch.setattr(subagent_logs, "MAX_LOG_BYTES", log_beside(session).stat().st_size - 1)
    assert single_agent(session, AGENT_CALL, FINAL_RESULT)["files"] == {}
    monkeypatch.setattr(subagent_logs, "MAX_LOG_BYTES", log_beside(session).stat().st_size)
    assert single_agent(session, AGENT_CALL, FINAL_RESULT)["files"] != {}


def test_a_log_that_vanishes_while_it_is_opened_is_no_error(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(log_beside(session), AGENT_LINES)
    read_events = subagent_logs._read_events

    def delete_and_read(path: str) -> Any:
        os.unlink(path)
        return read_events(path)

    monkeypatch.setattr(subagent_logs, "_read_events", delete_and_read)
    assert single_agent(session, AGENT_CALL, FINAL_RESULT)["result"] == "Two callers."


@pytest.mark.parametrize("detail", [None, "text", [], {"agentId": 7}, {"agentId": ["a91b"]}])
def test_without_a_valid_agent_id_no_log_is_read(session: Path, detail: Any) -> None:
    write(log_beside(session), AGENT_LINES)
    assert single_agent(session, AGENT_CALL, result("x", detail=detail))["files"] == {}
