"""Tool calls are read from a session's logs once, also if files are replaced or deleted."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from holdfast.ledger.from_state import agent_source
from holdfast.services.team import import_session
from holdfast.store.protocols import SessionRow
from holdfast.transcript import subagent_logs
from holdfast.transcript.reader import TranscriptReader
from tests.unit.transcript_lines import Line, call, raw, result, state_of, user
from tests.unit.unreadable import folder, garbage, nothing, pipe


class Session:
    """A session with sub-agents, each with a log of its own."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "s1.jsonl"
        self.memory: dict[str, Any] = {}
        self.parents: dict[str, str] = {}
        """What the calls that were read last hang on."""

    def agent_log(self, ident: str) -> Path:
        own = self.log.with_suffix("") / "subagents" / f"agent-{ident}.jsonl"
        own.parent.mkdir(parents=True, exist_ok=True)
        return own

    def says(self, *lines: Line) -> None:
        append(self.log, lines)

    def agent_says(self, ident: str, *lines: Line) -> None:
        append(self.agent_log(ident), lines)

    def read(self) -> list[str]:
        """The host's ids of the calls that came back since, through the memory as it is stored."""
        state = state_of(*self.log.read_bytes().splitlines())
        row: SessionRow = {
            "id": "s1", "host": "claude-code", "project": "/srv/app", "transcript": str(self.log),
            "cursor": None, "state": state, "revision": 1, "first_line": 1, "started_at": 1.0,
            "seen_at": 2.0, "ended_at": None,
        }  # fmt: skip
        self.memory = json.loads(json.dumps(self.memory))
        found = [*import_session.read_calls(row, self.memory, 3.0)]
        self.parents = {one["tool_input"]["query"]: one["parent"] for one in found}
        return [*self.parents]


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path)


def append(file: Path, lines: Iterable[Line]) -> None:
    with file.open("ab") as opened:
        opened.writelines(raw(line) + b"\n" for line in lines)


def did(ident: str) -> list[Line]:
    return [call("Find", {"query": ident}, ident), result(ident=ident)]


def finished_agent(ident: str, status: str = "completed") -> list[Line]:
    """The call that starts a sub-agent, and what came back."""
    back = result(ident=f"t_{ident}", detail={"status": status, "agentId": ident})
    return [call("Task", {"query": f"t_{ident}"}, f"t_{ident}"), back]


def launched_agent(ident: str) -> list[Line]:
    return finished_agent(ident, "async_launched")


def notice(ident: str) -> Line:
    text = f"<task-id>{ident}</task-id><status>completed</status>"
    return user(f"<task-notification>{text}</task-notification>")


def test_each_log_is_read_from_its_last_position(session: Session) -> None:
    session.says(*finished_agent("a"), *launched_agent("b"))
    session.agent_says("a", *did("a1"))
    session.agent_says("b", *did("b1"), *did("b2")[:1])
    assert session.read() == ["a1", "t_a", "t_b", "b1"]
    assert session.read() == []
    session.agent_says("b", *did("b2")[1:])
    session.agent_says("a", *did("a2"))
    assert session.read() == ["a2", "b2"]
    session.agent_says("b", *did("b3"))
    session.says(*did("1"), notice("b"), *did("2"))
    assert session.read() == ["1", "b3", "2"]


def test_a_log_without_new_lines_is_not_read(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.says(*finished_agent("a"), *launched_agent("b"))
    session.agent_says("a", *did("a1"))
    session.agent_says("b", *did("b1"))
    session.read()
    opened: list[str] = []
    real = TranscriptReader.lines
    monkeypatch.setattr(
        TranscriptReader, "lines", lambda self, **how: opened.append(self.path) or real(self, **how)
    )
    session.agent_says("b", *did("b2"))
    assert session.read() == ["b2"]
    assert opened == [str(session.agent_log("b"))]


@pytest.mark.parametrize("make", [nothing, garbage, folder, pipe])
def test_an_unreadable_log_does_not_block_others(session: Session, make: Any) -> None:
    make(session.agent_log("a"))
    session.says(*finished_agent("a"), *finished_agent("b"), *did("1"))
    session.agent_says("b", *did("b1"))
    assert session.read() == ["t_a", "b1", "t_b", "1"]
    assert session.read() == []


def test_a_late_or_replaced_log_is_read_from_the_start(session: Session) -> None:
    session.says(*finished_agent("a"))
    assert session.read() == ["t_a"]
    session.agent_says("a", *did("a1"), *did("a2"), *did("a3")[:1])
    assert session.read() == ["a1", "a2"]
    session.agent_log("a").write_bytes(b"")
    session.agent_says("a", *did("a1"))
    assert session.read() == ["a1"], "the same again, under the same id"
    session.agent_says("a", *did("a3")[1:])
    assert session.read() == [], "the call that it answers is gone"
    session.agent_log("a").unlink()
    assert session.read() == []
    session.log.unlink()
    session.says(*finished_agent("b"), *did("1"))
    assert session.read() == ["t_b", "1"]
    assert list(session.memory["agents"]) == ["b"]


def test_a_log_deleted_during_the_read_does_no_harm(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.says(*finished_agent("a"), *did("1"))
    session.agent_says("a", *did("a1"))
    real = TranscriptReader.earlier_ids_loader

    def gone(reader: TranscriptReader) -> Any:
        if "agent-" in reader.path:
            os.unlink(reader.path)
        return real(reader)

    monkeypatch.setattr(TranscriptReader, "earlier_ids_loader", gone)
    assert session.read() == ["t_a", "1"]


def test_a_log_too_large_for_a_hook_is_read(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subagent_logs, "MAX_LOG_BYTES", 1)
    session.says(*finished_agent("a"))
    session.agent_says("a", *did("a1"))
    assert session.read() == ["a1", "t_a"]


def test_the_read_positions_of_agents_are_limited(session: Session) -> None:
    session.says(*launched_agent("slow"))
    for number in range(300):
        unanswered = [one for call in range(50) for one in did(f"{number}_{call}")[:1]]
        session.agent_says(f"a{number}", *did(f"done{number}"), *unanswered)
        session.says(*finished_agent(f"a{number}"))
    assert len([one for one in session.read() if one.startswith("done")]) == 300
    agents = session.memory["agents"]
    assert len(agents) == import_session.MAX_AGENTS_FOLLOWED
    assert {len(one["waiting"]) for one in agents.values() if not one["runs"]} == {
        import_session.MAX_OPEN_CALLS_PER_AGENT
    }
    session.agent_says("slow", *did("slow1"))
    session.agent_says("a299", *did("late"))
    assert session.read() == ["late", "slow1"], "who runs is not forgotten for those who are over"


def test_a_dropped_agent_is_followed_again_when_it_ends(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_session, "MAX_AGENTS_FOLLOWED", 1)
    session.says(*launched_agent("a"), *launched_agent("b"))
    assert session.read() == ["t_a", "t_b"]
    session.agent_says("a", *did("a1"))
    assert session.read() == []
    session.says(notice("a"))
    assert session.read() == ["a1"]
    assert session.parents == {"a1": agent_source("s1", "t_a")}, "as the state knows"


def test_an_agent_is_not_dropped_before_its_log_was_read(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_session, "MAX_AGENTS_FOLLOWED", 2)
    session.says(*launched_agent("a"), *launched_agent("b"), *finished_agent("c"))
    session.read()
    session.agent_says("c", *did("c1"))
    assert session.read() == ["c1"]


def test_only_agents_that_can_have_a_log_are_followed(session: Session) -> None:
    session.says(
        *finished_agent("../../secret"),
        *finished_agent("a" * 5000),
        notice("shell_1"),
        *finished_agent("b"),
    )
    session.read()
    assert list(session.memory["agents"]) == ["b"]


def test_a_continued_agent_belongs_to_its_first_call(session: Session) -> None:
    session.says(*finished_agent("a"))
    session.agent_says("a", *did("a1"))
    session.read()
    again = result(ident="t_again", detail={"status": "completed", "agentId": "a"})
    session.says(call("Task", {"query": "t_again"}, "t_again"), again)
    session.agent_says("a", *did("a2"))
    assert session.read() == ["a2", "t_again"]
    assert session.parents["a2"] == agent_source("s1", "t_a")
