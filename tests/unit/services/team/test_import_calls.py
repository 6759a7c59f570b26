"""Tool calls are read once from the logs of a session, even if files are replaced or deleted."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from holdfast.ledger.from_state import make_agent_source
from holdfast.services.team import import_session
from holdfast.store.protocols import SessionRow
from holdfast.transcript import subagent_logs
from holdfast.transcript.reader import TranscriptReader
from tests.unit.transcript_lines import Line, call, raw, result, state_of, user
from tests.unit.unreadable import leave_missing, make_folder, make_pipe, write_garbage


class Session:
    """A session with sub-agents, each with a separate log."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "s1.jsonl"
        self.progress: dict[str, Any] = {}
        self.parents: dict[str, str] = {}
        """The parent of each call of the last `read`."""

    def agent_log(self, ident: str) -> Path:
        path = self.log.with_suffix("") / "subagents" / f"agent-{ident}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def write(self, *lines: Line) -> None:
        append(self.log, lines)

    def write_agent(self, ident: str, *lines: Line) -> None:
        append(self.agent_log(ident), lines)

    def read(self) -> list[str]:
        """Return the ids of the calls that were completed since the stored progress."""
        state = state_of(*self.log.read_bytes().splitlines())
        row: SessionRow = {
            "id": "s1", "host": "claude-code", "project": "/srv/app", "transcript": str(self.log),
            "cursor": None, "state": state, "revision": 1, "first_line": 1, "started_at": 1.0,
            "seen_at": 2.0, "ended_at": None,
        }  # fmt: skip
        self.progress = json.loads(json.dumps(self.progress))
        calls = [*import_session.read_calls(row, self.progress, 3.0)]
        self.parents = {call["tool_input"]["query"]: call["parent"] for call in calls}
        return [*self.parents]


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path)


def append(file: Path, lines: Iterable[Line]) -> None:
    with file.open("ab") as stream:
        stream.writelines(raw(line) + b"\n" for line in lines)


def completed_call(ident: str) -> list[Line]:
    return [call("Find", {"query": ident}, ident), result(call_id=ident)]


def finished_agent(ident: str, status: str = "completed") -> list[Line]:
    """The call that starts a sub-agent, and its result."""
    agent_result = result(call_id=f"t_{ident}", detail={"status": status, "agentId": ident})
    return [call("Task", {"query": f"t_{ident}"}, f"t_{ident}"), agent_result]


def launched_agent(ident: str) -> list[Line]:
    return finished_agent(ident, "async_launched")


def notification(ident: str) -> Line:
    text = f"<task-id>{ident}</task-id><status>completed</status>"
    return user(f"<task-notification>{text}</task-notification>")


def test_each_log_is_read_from_its_last_position(session: Session) -> None:
    session.write(*finished_agent("a"), *launched_agent("b"))
    session.write_agent("a", *completed_call("a1"))
    session.write_agent("b", *completed_call("b1"), *completed_call("b2")[:1])
    assert session.read() == ["a1", "t_a", "t_b", "b1"]
    assert session.read() == []
    session.write_agent("b", *completed_call("b2")[1:])
    session.write_agent("a", *completed_call("a2"))
    assert session.read() == ["a2", "b2"]
    session.write_agent("b", *completed_call("b3"))
    session.write(*completed_call("1"), notification("b"), *completed_call("2"))
    assert session.read() == ["1", "b3", "2"]


def test_a_log_without_new_lines_is_not_read(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.write(*finished_agent("a"), *launched_agent("b"))
    session.write_agent("a", *completed_call("a1"))
    session.write_agent("b", *completed_call("b1"))
    session.read()
    read_paths: list[str] = []
    lines = TranscriptReader.lines
    monkeypatch.setattr(
        TranscriptReader,
        "lines",
        lambda self, **options: read_paths.append(self.path) or lines(self, **options),
    )
    session.write_agent("b", *completed_call("b2"))
    assert session.read() == ["b2"]
    assert read_paths == [str(session.agent_log("b"))]


@pytest.mark.parametrize("prepare", [leave_missing, write_garbage, make_folder, make_pipe])
def test_an_unreadable_log_does_not_block_others(session: Session, prepare: Any) -> None:
    prepare(session.agent_log("a"))
    session.write(*finished_agent("a"), *finished_agent("b"), *completed_call("1"))
    session.write_agent("b", *completed_call("b1"))
    assert session.read() == ["t_a", "b1", "t_b", "1"]
    assert session.read() == []


def test_a_late_or_replaced_log_is_read_from_the_start(session: Session) -> None:
    session.write(*finished_agent("a"))
    assert session.read() == ["t_a"]
    session.write_agent(
        "a", *completed_call("a1"), *completed_call("a2"), *completed_call("a3")[:1]
    )
    assert session.read() == ["a1", "a2"]
    session.agent_log("a").write_bytes(b"")
    session.write_agent("a", *completed_call("a1"))
    assert session.read() == ["a1"], "the call is read again with the same id"
    session.write_agent("a", *completed_call("a3")[1:])
    assert session.read() == [], "the call of this result was deleted"
    session.agent_log("a").unlink()
    assert session.read() == []
    session.log.unlink()
    session.write(*finished_agent("b"), *completed_call("1"))
    assert session.read() == ["t_b", "1"]
    assert list(session.progress["agents"]) == ["b"]


def test_a_log_that_is_deleted_during_the_read_is_skipped(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.write(*finished_agent("a"), *completed_call("1"))
    session.write_agent("a", *completed_call("a1"))
    earlier_ids_loader = TranscriptReader.earlier_ids_loader

    def delete_agent_log(reader: TranscriptReader) -> Any:
        if "agent-" in reader.path:
            os.unlink(reader.path)
        return earlier_ids_loader(reader)

    monkeypatch.setattr(TranscriptReader, "earlier_ids_loader", delete_agent_log)
    assert session.read() == ["t_a", "1"]


def test_a_log_too_large_for_a_hook_is_read(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subagent_logs, "MAX_LOG_BYTES", 1)
    session.write(*finished_agent("a"))
    session.write_agent("a", *completed_call("a1"))
    assert session.read() == ["a1", "t_a"]


def test_the_read_positions_of_agents_are_limited(session: Session) -> None:
    session.write(*launched_agent("slow"))
    for number in range(300):
        open_calls = [completed_call(f"{number}_{index}")[0] for index in range(50)]
        session.write_agent(f"a{number}", *completed_call(f"done{number}"), *open_calls)
        session.write(*finished_agent(f"a{number}"))
    assert len([ident for ident in session.read() if ident.startswith("done")]) == 300
    agents = session.progress["agents"]
    assert len(agents) == import_session.MAX_AGENTS_FOLLOWED
    assert {len(agent["waiting"]) for agent in agents.values() if not agent["runs"]} == {
        import_session.MAX_OPEN_CALLS_PER_AGENT
    }
    session.write_agent("slow", *completed_call("slow1"))
    session.write_agent("a299", *completed_call("late"))
    assert session.read() == ["late", "slow1"], "running agents are kept before finished ones"


def test_a_dropped_agent_is_followed_again_when_it_ends(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_session, "MAX_AGENTS_FOLLOWED", 1)
    session.write(*launched_agent("a"), *launched_agent("b"))
    assert session.read() == ["t_a", "t_b"]
    session.write_agent("a", *completed_call("a1"))
    assert session.read() == []
    session.write(notification("a"))
    assert session.read() == ["a1"]
    assert session.parents == {"a1": make_agent_source("s1", "t_a")}, (
        "as in the state of the session"
    )


def test_an_agent_is_not_dropped_before_its_log_was_read(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_session, "MAX_AGENTS_FOLLOWED", 2)
    session.write(*launched_agent("a"), *launched_agent("b"), *finished_agent("c"))
    session.read()
    session.write_agent("c", *completed_call("c1"))
    assert session.read() == ["c1"]


def test_only_agents_that_can_have_a_log_are_followed(session: Session) -> None:
    session.write(
        *finished_agent("../../secret"),
        *finished_agent("a" * 5000),
        notification("shell_1"),
        *finished_agent("b"),
    )
    session.read()
    assert list(session.progress["agents"]) == ["b"]


def test_a_continued_agent_belongs_to_its_first_call(session: Session) -> None:
    session.write(*finished_agent("a"))
    session.write_agent("a", *completed_call("a1"))
    session.read()
    second_result = result(call_id="t_again", detail={"status": "completed", "agentId": "a"})
    session.write(call("Task", {"query": "t_again"}, "t_again"), second_result)
    session.write_agent("a", *completed_call("a2"))
    assert session.read() == ["a2", "t_again"]
    assert session.parents["a2"] == make_agent_source("s1", "t_a")
