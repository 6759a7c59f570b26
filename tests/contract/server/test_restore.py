"""A restore says what is known now, whoever wrote it and whatever was restored before."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast.brief.fit_sections import TRUNCATION_NOTICE
from holdfast.ledger import agents, contexts, messages, waves, work
from holdfast.ledger.schema import TASKS
from holdfast.server.databases import Connections, Databases, LocalDatabases
from holdfast.services.compaction.shared_context import (
    MAX_MESSAGES,
    RestoreRequest,
    build_shared_brief,
)
from holdfast.state.types import State
from tests.contract.server.conftest import a_state, databases_at

WANTED = RestoreRequest("s1", "dev-1", "orchestrator")


@pytest.fixture
def other(
    databases: Databases, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Databases]:
    """Another server's way to the same database."""
    kind = "sqlite" if isinstance(databases, LocalDatabases) else "postgres"
    with closing(databases_at(kind, request, tmp_path)) as made:
        yield made


def told(databases: Databases, wanted: RestoreRequest = WANTED, now: float = 10.0) -> str:
    with databases.connect() as db:
        return build_shared_brief(db.store, db.ledger, wanted, now)


def request_of(db: Connections) -> dict[str, Any]:
    return work.add_request(
        db.ledger, 1.0, project="p", session="s1", prompt="x", prompt_type="user"
    )


def save(db: Connections) -> None:
    contexts.save_snapshot(db.ledger, "s1", "p", {"context_summary": "the login"}, 2.0)


def task(db: Connections) -> None:
    work.add_task(db.ledger, 2.0, request=request_of(db), name="the login", wave_number=0)


def subtask(db: Connections) -> None:
    above = work.add_task(db.ledger, 2.0, request=request_of(db), name="x", wave_number=0)
    work.add_subtask(db.ledger, 2.0, task=above, description="the login")


def wave(db: Connections) -> None:
    waves.create_wave(db.ledger, "s1", 7, 2.0)


def message(db: Connections) -> None:
    messages.send(
        db.ledger, 2.0, ident="m1", from_agent_id="a", to_agent_id="dev-1", topic="the login"
    )


def folded(db: Connections, state: State, revision: int) -> None:
    db.store.save_session(
        session="s1", host="claude-code", project="/p", transcript="/t", cursor=None, state=state,
        revision=revision, now=2.0,
    )  # fmt: skip


def new_state(db: Connections) -> None:
    folded(db, a_state("hello", "the login"), 1)


def snapshot(db: Connections) -> None:
    db.store.add_snapshot("s1", "auto", a_state("hello", "the login"), 2.0)


WRITES = {
    save: "the login", task: "- the login (pending)", subtask: "- agent: the login (pending)",
    wave: "- Wave 7: pending (0 of 0 tasks)", message: "- a: the login",
    new_state: "the login", snapshot: "the login",
}  # fmt: skip


@pytest.mark.parametrize("write", WRITES)
def test_what_another_server_wrote_is_restored_at_once(
    databases: Databases, other: Databases, write: Any
) -> None:
    with other.connect() as db:
        contexts.save_snapshot(db.ledger, "s1", "p", {"trigger": "auto", "note": "first"}, 1.0)
        folded(db, a_state("hello"), 0)
    before = [told(databases), told(databases)]
    with other.connect() as db:
        write(db)
    after = told(databases)
    assert before[0] == before[1]
    assert "first" in before[0]
    assert WRITES[write] not in before[0]
    assert WRITES[write] in after
    assert told(other) == after


def test_a_handoff_that_was_made_again_is_told(databases: Databases, other: Databases) -> None:
    agent = {
        "id": "a1", "type": "dev", "task": "x", "status": "completed", "line": 1, "result": "",
        "files": {}, "background": False, "call": "", "path": "", "answer_line": 1,
    }  # fmt: skip
    with other.connect() as db:
        folded(db, a_state("hello", agents=[agent]), 0)
    found = []
    for number in (1, 2):
        with other.connect() as db:
            db.store.add_handoff(
                "s1", agent="a1", agent_type="dev", task="x", line=1, status="ok", decision="",
                content={"context_summary": f"attempt {number}"}, raw="x", tokens_before=1,
                tokens_after=1, now=float(number),
            )  # fmt: skip
        found.append(told(databases))
    assert ["attempt 1" in found[0], "attempt 2" in found[1]] == [True, True]


def test_a_message_that_has_expired_is_not_told_again(databases: Databases) -> None:
    with databases.connect() as db:
        message(db)
    assert "the login" in told(databases, now=10.0)
    assert told(databases, now=1e6) == ""


def test_for_whom_agents_of_the_session_wait_is_told(databases: Databases) -> None:
    with databases.connect() as db:
        request_of(db)
        agents.record_agent(db.ledger, 1.0, agent_id="front", session="s1", project="p")
        agents.record_agent(db.ledger, 1.0, agent_id="front", session="s9", project="q")
        for who, project in (
            ("front", "p"),
            ("dev-1", ""),
            ("s1", "p"),
            ("front", "q"),
            ("x", "p"),
        ):
            messages.block(db.ledger, who, f"{who} of {project}", "needs it", 2.0, project)
    assert "## Agent Status\n" in told(databases)
    waits = [line for line in told(databases).splitlines() if " waits for " in line]
    assert sorted(waits) == [
        "- dev-1 waits for dev-1 of : needs it",
        "- front waits for front of p: needs it",
        "- s1 waits for s1 of p: needs it",
    ]
    with databases.connect() as db:
        messages.unblock(db.ledger, "front", None, 3.0, "p")
    assert "- front waits" not in told(databases)


def test_a_task_that_is_done_is_not_told_again(databases: Databases, other: Databases) -> None:
    with databases.connect() as db:
        above = request_of(db)
        made = work.add_task(db.ledger, 2.0, request=above, name="login", wave_number=0)
    assert "login" in told(databases)
    with other.connect() as db:
        work.set_status(db.ledger, TASKS, made, "completed", 2.0)
    assert "login" not in told(databases)


@pytest.mark.parametrize(
    "wanted",
    [
        WANTED._replace(agent_type="developer"),
        WANTED._replace(tokens=60),
        RestoreRequest("s2", "dev-1"),
    ],
)
def test_who_asks_for_something_else_is_told_something_else(
    databases: Databases, wanted: RestoreRequest
) -> None:
    said = {"context_summary": "login", "key_decisions": [f"decision {n}" for n in range(30)]}
    with databases.connect() as db:
        contexts.save_snapshot(db.ledger, "s1", "p", said, 1.0)
    assert told(databases) != told(databases, wanted)


def test_names_that_no_database_takes_are_asked_for_too(databases: Databases) -> None:
    assert told(databases, RestoreRequest("half \ud83d", "of \0 it")) == ""


def test_mail_is_shown_by_priority_and_marked_as_cut(databases: Databases) -> None:
    with databases.connect() as db:
        for number in range(MAX_MESSAGES + 5):
            messages.send(
                db.ledger, 1.0 + number, ident=f"m{number}", from_agent_id=f"a{number}",
                to_agent_id="dev-1" if number % 2 else "", topic=f"t{number}", priority=number % 3,
            )  # fmt: skip
    text = told(databases, WANTED._replace(tokens=4000))
    assert "- a2: t2" in text
    assert TRUNCATION_NOTICE in text
