"""Tool calls are read from a session's logs once, whatever becomes of the files meanwhile."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from holdfast.actions import ledger_calls
from holdfast.ledger.from_state import agent_source
from holdfast.store.base import SessionRow
from holdfast.transcript import agent_files
from holdfast.transcript.reader import Reader
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
        found = [*ledger_calls.calls(row, self.memory, 3.0)]
        self.parents = {one["given"]["query"]: one["parent"] for one in found}
        return [*self.parents]


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path)


def append(file: Path, lines: Iterable[Line]) -> None:
    with file.open("ab") as opened:
        opened.writelines(raw(line) + b"\n" for line in lines)


def did(ident: str) -> list[Line]:
    return [call("Find", {"query": ident}, ident), result(ident=ident)]


def asked(ident: str, status: str = "completed") -> list[Line]:
    """The call that starts a sub-agent, and what came back."""
    back = result(ident=f"t_{ident}", detail={"status": status, "agentId": ident})
    return [call("Task", {"query": f"t_{ident}"}, f"t_{ident}"), back]


def launched(ident: str) -> list[Line]:
    return asked(ident, "async_launched")


def notice(ident: str) -> Line:
    told = f"<task-id>{ident}</task-id><status>completed</status>"
    return user(f"<task-notification>{told}</task-notification>")


def test_each_log_is_read_on_from_where_it_was_left(session: Session) -> None:
    session.says(*asked("a"), *launched("b"))
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


def test_what_has_not_grown_is_not_read(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    session.says(*asked("a"), *launched("b"))
    session.agent_says("a", *did("a1"))
    session.agent_says("b", *did("b1"))
    session.read()
    opened: list[str] = []
    real = Reader.lines
    monkeypatch.setattr(
        Reader, "lines", lambda self, **how: opened.append(self.path) or real(self, **how)
    )
    session.agent_says("b", *did("b2"))
    assert session.read() == ["b2"]
    assert opened == [str(session.agent_log("b"))]


@pytest.mark.parametrize("make", [nothing, garbage, folder, pipe])
def test_a_log_that_cannot_be_read_holds_up_no_other(session: Session, make: Any) -> None:
    make(session.agent_log("a"))
    session.says(*asked("a"), *asked("b"), *did("1"))
    session.agent_says("b", *did("b1"))
    assert session.read() == ["t_a", "b1", "t_b", "1"]
    assert session.read() == []


def test_a_log_that_comes_late_or_was_replaced_is_read_from_its_beginning(session: Session) -> None:
    session.says(*asked("a"))
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
    session.says(*asked("b"), *did("1"))
    assert session.read() == ["t_b", "1"]
    assert list(session.memory["agents"]) == ["b"]


def test_a_log_that_goes_while_it_is_read_is_survived(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.says(*asked("a"), *did("1"))
    session.agent_says("a", *did("a1"))
    real = Reader.earlier

    def gone(reader: Reader) -> Any:
        if "agent-" in reader.path:
            os.unlink(reader.path)
        return real(reader)

    monkeypatch.setattr(Reader, "earlier", gone)
    assert session.read() == ["t_a", "1"]


def test_a_log_too_large_for_a_hook_is_read(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_files, "LARGEST", 1)
    session.says(*asked("a"))
    session.agent_says("a", *did("a1"))
    assert session.read() == ["a1", "t_a"]


def test_what_is_remembered_of_many_agents_is_bounded(session: Session) -> None:
    session.says(*launched("slow"))
    for number in range(300):
        unanswered = [one for call in range(50) for one in did(f"{number}_{call}")[:1]]
        session.agent_says(f"a{number}", *did(f"done{number}"), *unanswered)
        session.says(*asked(f"a{number}"))
    assert len([one for one in session.read() if one.startswith("done")]) == 300
    agents = session.memory["agents"]
    assert len(agents) == ledger_calls.MOST_AGENTS
    assert {len(one["waiting"]) for one in agents.values() if not one["runs"]} == {
        ledger_calls.MOST_OPEN_OF_AGENT
    }
    session.agent_says("slow", *did("slow1"))
    session.agent_says("a299", *did("late"))
    assert session.read() == ["late", "slow1"], "who runs is not forgotten for those who are over"


def test_an_agent_that_was_forgotten_is_known_again_when_it_is_over(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_calls, "MOST_AGENTS", 1)
    session.says(*launched("a"), *launched("b"))
    assert session.read() == ["t_a", "t_b"]
    session.agent_says("a", *did("a1"))
    assert session.read() == []
    session.says(notice("a"))
    assert session.read() == ["a1"]
    assert session.parents == {"a1": agent_source("s1", "t_a")}, "as the state knows"


def test_an_agent_is_not_forgotten_before_its_log_was_read(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_calls, "MOST_AGENTS", 2)
    session.says(*launched("a"), *launched("b"), *asked("c"))
    session.read()
    session.agent_says("c", *did("c1"))
    assert session.read() == ["c1"]


def test_only_what_can_have_a_log_is_remembered(session: Session) -> None:
    session.says(*asked("../../secret"), *asked("a" * 5000), notice("shell_1"), *asked("b"))
    session.read()
    assert list(session.memory["agents"]) == ["b"]


def test_an_agent_that_is_started_again_goes_on_under_its_first_call(session: Session) -> None:
    session.says(*asked("a"))
    session.agent_says("a", *did("a1"))
    session.read()
    again = result(ident="t_again", detail={"status": "completed", "agentId": "a"})
    session.says(call("Task", {"query": "t_again"}, "t_again"), again)
    session.agent_says("a", *did("a2"))
    assert session.read() == ["a2", "t_again"]
    assert session.parents["a2"] == agent_source("s1", "t_a")
