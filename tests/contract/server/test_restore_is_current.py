"""A restore contains everything that is stored at that time, whichever process wrote it."""

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
from tests.contract.server.conftest import make_state, open_databases

RESTORE_REQUEST = RestoreRequest("s1", "dev-1", "orchestrator")


@pytest.fixture
def other_server(
    databases: Databases, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Databases]:
    """The connections of another server to the same database."""
    kind = "sqlite" if isinstance(databases, LocalDatabases) else "postgres"
    with closing(open_databases(kind, request, tmp_path)) as opened:
        yield opened


def restore(
    databases: Databases, request: RestoreRequest = RESTORE_REQUEST, now: float = 10.0
) -> str:
    with databases.connect() as db:
        return build_shared_brief(db.store, db.ledger, request, now)


def add_request(db: Connections) -> dict[str, Any]:
    return work.add_request(
        db.ledger, 1.0, project="p", session="s1", prompt="x", prompt_type="user"
    )


def save_context(db: Connections) -> None:
    contexts.save_snapshot(db.ledger, "s1", "p", {"context_summary": "the login"}, 2.0)


def add_task(db: Connections) -> None:
    work.add_task(db.ledger, 2.0, request=add_request(db), name="the login", wave_number=0)


def add_subtask(db: Connections) -> None:
    task = work.add_task(db.ledger, 2.0, request=add_request(db), name="x", wave_number=0)
    work.add_subtask(db.ledger, 2.0, task=task, description="the login")


def create_wave(db: Connections) -> None:
    waves.create_wave(db.ledger, "s1", 7, 2.0)


def send_message(db: Connections) -> None:
    messages.send(
        db.ledger, 2.0, ident="m1", from_agent_id="a", to_agent_id="dev-1", topic="the login"
    )


def save_session(db: Connections, state: State, revision: int) -> None:
    db.store.save_session(
        session="s1", host="claude-code", project="/p", transcript="/t", cursor=None, state=state,
        revision=revision, now=2.0,
    )  # fmt: skip


def update_session(db: Connections) -> None:
    save_session(db, make_state("hello", "the login"), 1)


def add_snapshot(db: Connections) -> None:
    db.store.add_snapshot("s1", "auto", make_state("hello", "the login"), 2.0)


# Each way to write, and what a restore contains afterwards.
WRITES = {
    save_context: "the login",
    add_task: "- the login (pending)",
    add_subtask: "- agent: the login (pending)",
    create_wave: "- Wave 7: pending (0 of 0 tasks)",
    send_message: "- a: the login",
    update_session: "the login",
    add_snapshot: "the login",
}


@pytest.mark.parametrize("write", WRITES)
def test_a_restore_contains_what_another_server_has_just_written(
    databases: Databases, other_server: Databases, write: Any
) -> None:
    with other_server.connect() as db:
        contexts.save_snapshot(db.ledger, "s1", "p", {"trigger": "auto", "note": "first"}, 1.0)
        save_session(db, make_state("hello"), 0)
    before = [restore(databases), restore(databases)]
    with other_server.connect() as db:
        write(db)
    after = restore(databases)
    assert before[0] == before[1]
    assert "first" in before[0]
    assert WRITES[write] not in before[0]
    assert WRITES[write] in after
    assert restore(other_server) == after


def test_a_restore_contains_the_latest_handoff_of_an_agent(
    databases: Databases, other_server: Databases
) -> None:
    agent = {
        "id": "a1", "type": "dev", "task": "x", "status": "completed", "line": 1, "result": "",
        "files": {}, "background": False, "call": "", "path": "", "answer_line": 1,
    }  # fmt: skip
    with other_server.connect() as db:
        save_session(db, make_state("hello", agents=[agent]), 0)
    briefs = []
    for number in (1, 2):
        with other_server.connect() as db:
            db.store.add_handoff(
                "s1", agent="a1", agent_type="dev", task="x", line=1, status="ok", decision="",
                content={"context_summary": f"attempt {number}"}, raw="x", tokens_before=1,
                tokens_after=1, now=float(number),
            )  # fmt: skip
        briefs.append(restore(databases))
    assert "attempt 1" in briefs[0]
    assert "attempt 2" in briefs[1]


def test_an_expired_message_is_not_restored(databases: Databases) -> None:
    with databases.connect() as db:
        send_message(db)
    assert "the login" in restore(databases, now=10.0)
    assert restore(databases, now=1e6) == ""


def test_a_restore_lists_which_agents_of_the_session_wait_for_others(databases: Databases) -> None:
    with databases.connect() as db:
        add_request(db)
        agents.record_agent(db.ledger, 1.0, agent_id="front", session="s1", project="p")
        agents.record_agent(db.ledger, 1.0, agent_id="front", session="s9", project="q")
        for agent, project in (
            ("front", "p"),
            ("dev-1", ""),
            ("s1", "p"),
            ("front", "q"),
            ("x", "p"),
        ):
            messages.block(db.ledger, agent, f"{agent} of {project}", "needs it", 2.0, project)
    assert "## Agent Status\n" in restore(databases)
    lines = [line for line in restore(databases).splitlines() if " waits for " in line]
    assert sorted(lines) == [
        "- dev-1 waits for dev-1 of : needs it",
        "- front waits for front of p: needs it",
        "- s1 waits for s1 of p: needs it",
    ]
    with databases.connect() as db:
        messages.unblock(db.ledger, "front", None, 3.0, "p")
    assert "- front waits" not in restore(databases)


def test_a_completed_task_is_not_restored(databases: Databases, other_server: Databases) -> None:
    with databases.connect() as db:
        request = add_request(db)
        task = work.add_task(db.ledger, 2.0, request=request, name="login", wave_number=0)
    assert "login" in restore(databases)
    with other_server.connect() as db:
        work.set_status(db.ledger, TASKS, task, "completed", 2.0)
    assert "login" not in restore(databases)


@pytest.mark.parametrize(
    "restore_request",
    [
        RESTORE_REQUEST._replace(agent_type="developer"),
        RESTORE_REQUEST._replace(tokens=60),
        RestoreRequest("s2", "dev-1"),
    ],
    ids=["another agent type", "another budget", "another session"],
)
def test_a_restore_depends_on_agent_type_budget_and_session(
    databases: Databases, restore_request: RestoreRequest
) -> None:
    body = {"context_summary": "login", "key_decisions": [f"decision {n}" for n in range(30)]}
    with databases.connect() as db:
        contexts.save_snapshot(db.ledger, "s1", "p", body, 1.0)
    assert restore(databases) != restore(databases, restore_request)


def test_ids_that_the_database_cannot_store_restore_nothing(databases: Databases) -> None:
    assert restore(databases, RestoreRequest("half \ud83d", "of \0 it")) == ""


def test_messages_are_sorted_by_priority_and_omitted_ones_are_mentioned(
    databases: Databases,
) -> None:
    with databases.connect() as db:
        for number in range(MAX_MESSAGES + 5):
            messages.send(
                db.ledger, 1.0 + number, ident=f"m{number}", from_agent_id=f"a{number}",
                to_agent_id="dev-1" if number % 2 else "", topic=f"t{number}", priority=number % 3,
            )  # fmt: skip
    brief = restore(databases, RESTORE_REQUEST._replace(tokens=4000))
    assert "- a2: t2" in brief
    assert TRUNCATION_NOTICE in brief
