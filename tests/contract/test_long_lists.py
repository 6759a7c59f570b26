"""Lists and lookups go through what they are asked for, not through all there is."""

from __future__ import annotations

import re
from typing import Any

import pytest

from holdfast.ledger import contexts, dependencies, messages, work
from holdfast.ledger.actions import add_action
from holdfast.ledger.project_scope import ProjectLedger
from holdfast.ledger.repository import MATCH_ALL, Ledger
from holdfast.ledger.schema import ACTIONS, CONTEXTS, MESSAGES, REQUESTS, SUBTASKS, TASKS
from holdfast.services.compaction.shared_context import _OVERVIEW, _TABLES
from tests.contract.test_ledger import a_task, done, status

# How a table is read depends on what has been in it.
PLACE = "postgres_url"
MANY = 5000
# One session, one project and one agent have nearly everything: what others have is not soon met.
COPIES = {
    "sqlite": "WITH RECURSIVE g (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM g WHERE n < {0})",
    "postgres": "WITH g (n) AS (SELECT * FROM generate_series(1, {0}))",
}


@pytest.fixture
def long(ledger: Ledger) -> Ledger:
    """Much of a busy session, and next to nothing of another one."""
    database = ledger.database
    for session in ("busy", "quiet"):
        task = a_task(ledger, "a task", session=session)
        work.add_subtask(ledger, 12.0, task=task, description="a part", agent_id=f"of {session}")
        add_action(ledger, 13.0, ident=session, session=session, tool_name="Read")
        messages.send(ledger, 13.0, ident=session, from_agent_id=session, session=session)
        contexts.save_snapshot(ledger, session, session, {"context_summary": "s"}, 14.0)
    contexts.save_context(ledger, 14.0, agent_id="of quiet", agent_type="quiet")
    for table in (REQUESTS, TASKS, SUBTASKS, ACTIONS, MESSAGES, CONTEXTS):
        rest = [one for one in table.columns if one not in ("id", "source", table.order_column)]
        database.run(
            f"INSERT INTO {table.name} (id, {table.order_column}, {', '.join(rest)}) "
            f"{COPIES[database.dialect].format(MANY)} "
            f"SELECT 'x' || n, 1000.0 + n, {', '.join(rest)} FROM g, {table.name} "
            f"WHERE session = 'busy' AND id NOT LIKE 'x%'"
        )
        if database.dialect == "postgres":
            database.run(f"ANALYZE {table.name}")
    return ledger


NAMED = re.compile(r"(?<![:\w']):([a-z_][a-z0-9_]*)")


def plan(ledger: Ledger, statement: str, values: dict[str, Any]) -> str:
    """How a statement is carried out, whatever its values are."""
    database = ledger.database
    if database.dialect == "sqlite":
        rows = database.run(f"EXPLAIN QUERY PLAN {statement}", values)[0]
        return "\n".join(row["detail"] for row in rows)
    names = list(dict.fromkeys(NAMED.findall(statement)))
    numbered = NAMED.sub(lambda match: f"${names.index(match[1]) + 1}", statement)
    given = ", ".join(f"'{values[name]}'" for name in names)
    with ledger.transaction():
        database.run("SET LOCAL plan_cache_mode = force_generic_plan")
        database.run(f"PREPARE looked_at AS {numbered}")
        rows = database.run(f"EXPLAIN EXECUTE looked_at ({given})")[0]
        database.run("DEALLOCATE looked_at")
    return "\n".join(str(next(iter(row.values()))) for row in rows)


def test_a_page_is_found_by_an_index(long: Ledger) -> None:
    for table, column, index in (
        (ACTIONS, "session", "actions_by_session"),
        (ACTIONS, "project", "actions_by_project"),
        (ACTIONS, "subtask", "actions_by_subtask"),
        (SUBTASKS, "agent_id", "subtasks_by_agent"),
        (SUBTASKS, "session", "subtasks_by_session"),
        (SUBTASKS, "project", "subtasks_by_project"),
        (SUBTASKS, "status", "subtasks_by_status"),
        (TASKS, "project", "tasks_by_project"),
        (TASKS, "session", "tasks_in_session"),
        (TASKS, "status", "tasks_by_status"),
        (REQUESTS, "session", "requests_by_session"),
        (REQUESTS, "status", "requests_by_status"),
        (MESSAGES, "from_agent_id", "messages_by_sender"),
        *((table, "", f"{table.name}_by_time") for table in (REQUESTS, TASKS, SUBTASKS, ACTIONS)),
    ):
        conditions = [f"{column} = :of"] if column else []
        statement = table.select(conditions, newest_first=True, has_limit=True)
        found = plan(long, statement, {"of": "quiet", "limit": 50})
        assert index in found
        assert column == "" or f"{table.name}_by_time" not in found


def test_few_contexts_are_found_among_many_snapshots(long: Ledger) -> None:
    for column, index in (
        ("agent_type", "agent_contexts_by_type"),
        ("project", "agent_contexts_by_project"),
    ):
        given = {column: "quiet"}
        also = contexts.partial_index_condition(given.get("agent_type"), given.get("project"))
        statement = CONTEXTS.select([f"{column} = :of", also], newest_first=True, has_limit=True)
        assert index in plan(long, statement, {"of": "quiet", "limit": 50})
        assert len(long.find(CONTEXTS, where=also, **given)) == 1


def test_what_somebody_has_of_a_status_is_not_looked_for_among_all_of_it(long: Ledger) -> None:
    for table, column, index in (
        (TASKS, "session", "tasks_in_session"),
        (TASKS, "request", "tasks_by_request"),
        (SUBTASKS, "session", "subtasks_by_session"),
        (SUBTASKS, "task", "subtasks_by_task"),
        (SUBTASKS, "agent_id", "subtasks_by_agent"),
        (REQUESTS, "session", "requests_by_session"),
    ):
        conditions = [f"{column} = :of", "status = :status"]
        statement = table.select(conditions, newest_first=True, has_limit=True)
        assert index in plan(long, statement, {"of": "quiet", "status": "pending", "limit": 50})


def test_a_session_is_not_looked_for_in_its_whole_project(long: Ledger) -> None:
    within = ProjectLedger(long.database, "p")
    for table, column, index in (
        (ACTIONS, "session", "actions_by_session"),
        (ACTIONS, "subtask", "actions_by_subtask"),
        (SUBTASKS, "session", "subtasks_by_session"),
        (TASKS, "session", "tasks_in_session"),
        (REQUESTS, "session", "requests_by_session"),
    ):
        conditions = [f"{column} = :of", within.scope_condition(table)]
        statement = table.select(conditions, newest_first=True, has_limit=True)
        assert index in plan(long, statement, {"of": "quiet", "limit": 50, **within.scope_values})


def test_a_session_that_has_much_is_not_looked_for_among_all(long: Ledger) -> None:
    """PostgreSQL knows such sessions by name, and plans for them."""
    for table, index in ((TASKS, "tasks_in_session"), (ACTIONS, "actions_by_session")):
        statement = table.select(["session = 'busy'"], newest_first=True, has_limit=True)
        database = long.database
        if database.dialect == "postgres":
            database.run(f"UPDATE {table.name} SET session = 'other' WHERE id > 'x3'")
            database.run(f"ANALYZE {table.name}")
        assert index in plan(long, statement, {"limit": 50})


def test_a_restore_meets_no_other_sessions_calls(long: Ledger) -> None:
    statement = _OVERVIEW.format_map({table.name: MATCH_ALL for table in _TABLES})
    found = plan(long, statement, {"session": "quiet", "agent": ""})
    assert "actions_by_session" in found
    assert "actions_by_time" not in found


def test_what_waits_is_found_among_what_waits(
    long: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, Any]] = []
    run = type(long.database).run

    def heard(self: Any, statement: str, values: Any = (), lock: str = "") -> Any:
        asked.append((statement, values))
        return run(self, statement, values, lock)

    with monkeypatch.context() as patch:
        patch.setattr(type(long.database), "run", heard)
        assert not [*dependencies.find_dependents(long, {"a", "b"}, "blocked")]
        assert not [*dependencies.find_dependents(long, {str(number) for number in range(120)})]
    assert len(asked) == 4, "one look for many"
    assert "subtasks_waiting" in plan(long, *asked[0])
    assert not any("ORDER" in statement for statement, _ in asked)


def test_what_waited_goes_on_when_the_last_is_done_or_deleted(long: Ledger) -> None:
    (first,) = long.find(SUBTASKS, session="quiet")
    task = long.require(TASKS, first["task"])
    second = work.add_subtask(long, 14.0, task=task, description="b", blocked_by=[first["id"]])
    assert status(long, second) == "blocked"
    done(long, first)
    assert status(long, second) == "pending"
    many = [
        work.add_subtask(long, 15.0, task=task, description=f"part {number}") for number in range(3)
    ]
    idents = [one["id"] for one in many]
    last = work.add_subtask(
        long, 16.0, task=a_task(long, "after it", session="busy"), description="waits",
        blocked_by=[*idents, second["id"]],
    )  # fmt: skip
    third = work.add_subtask(long, 17.0, task=task, description="too", blocked_by=idents[:1])
    dependencies.remove_dependencies(long, set(idents), 18.0)
    assert long.require(SUBTASKS, last["id"])["blocked_by"] == [second["id"]]
    assert (status(long, last), status(long, third)) == ("blocked", "pending")
