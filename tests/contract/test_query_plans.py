"""Lists and lookups use an index and do not scan whole tables, on each database."""

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
from tests.contract.test_ledger import get_status, make_task, set_status

# Query plans depend on the statistics of a table, so these tests need new tables.
POSTGRES_URL_FIXTURE = "postgres_url"
ROW_COUNT = 5000
# Nearly all rows belong to one session, project and agent: a scan rarely meets the others.
NUMBERS = {
    "sqlite": "WITH RECURSIVE g (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM g WHERE n < {0})",
    "postgres": "WITH g (n) AS (SELECT * FROM generate_series(1, {0}))",
}


@pytest.fixture
def large_ledger(ledger: Ledger) -> Ledger:
    """Thousands of rows of the session `busy`, and one row in each table of `quiet`."""
    database = ledger.database
    for session in ("busy", "quiet"):
        task = make_task(ledger, "a task", session=session)
        work.add_subtask(ledger, 12.0, task=task, description="a part", agent_id=f"of {session}")
        add_action(ledger, 13.0, ident=session, session=session, tool_name="Read")
        messages.send(ledger, 13.0, ident=session, from_agent_id=session, session=session)
        contexts.save_snapshot(ledger, session, session, {"context_summary": "s"}, 14.0)
    contexts.save_context(ledger, 14.0, agent_id="of quiet", agent_type="quiet")
    for table in (REQUESTS, TASKS, SUBTASKS, ACTIONS, MESSAGES, CONTEXTS):
        columns = [
            name for name in table.columns if name not in ("id", "source", table.order_column)
        ]
        database.run(
            f"INSERT INTO {table.name} (id, {table.order_column}, {', '.join(columns)}) "
            f"{NUMBERS[database.dialect].format(ROW_COUNT)} "
            f"SELECT 'x' || n, 1000.0 + n, {', '.join(columns)} FROM g, {table.name} "
            f"WHERE session = 'busy' AND id NOT LIKE 'x%'"
        )
        if database.dialect == "postgres":
            database.run(f"ANALYZE {table.name}")
    return ledger


NAMED_PARAMETER = re.compile(r"(?<![:\w']):([a-z_][a-z0-9_]*)")


def explain(ledger: Ledger, statement: str, values: dict[str, Any]) -> str:
    """Return the query plan of a statement, in PostgreSQL for any values."""
    database = ledger.database
    if database.dialect == "sqlite":
        rows = database.run(f"EXPLAIN QUERY PLAN {statement}", values)[0]
        return "\n".join(row["detail"] for row in rows)
    names = list(dict.fromkeys(NAMED_PARAMETER.findall(statement)))
    numbered = NAMED_PARAMETER.sub(lambda match: f"${names.index(match[1]) + 1}", statement)
    arguments = ", ".join(f"'{values[name]}'" for name in names)
    with ledger.transaction():
        database.run("SET LOCAL plan_cache_mode = force_generic_plan")
        database.run(f"PREPARE explained AS {numbered}")
        rows = database.run(f"EXPLAIN EXECUTE explained ({arguments})")[0]
        database.run("DEALLOCATE explained")
    return "\n".join(str(next(iter(row.values()))) for row in rows)


def test_a_page_of_a_list_uses_an_index(large_ledger: Ledger) -> None:
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
        plan = explain(large_ledger, statement, {"of": "quiet", "limit": 50})
        assert index in plan
        assert column == "" or f"{table.name}_by_time" not in plan


def test_contexts_among_many_snapshots_are_found_by_an_index(large_ledger: Ledger) -> None:
    for column, index in (
        ("agent_type", "agent_contexts_by_type"),
        ("project", "agent_contexts_by_project"),
    ):
        filters = {column: "quiet"}
        also = contexts.build_partial_index_condition(
            filters.get("agent_type"), filters.get("project")
        )
        statement = CONTEXTS.select([f"{column} = :of", also], newest_first=True, has_limit=True)
        assert index in explain(large_ledger, statement, {"of": "quiet", "limit": 50})
        assert len(large_ledger.find(CONTEXTS, where=also, **filters)) == 1


def test_a_filter_by_status_and_owner_uses_the_index_of_the_owner(large_ledger: Ledger) -> None:
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
        assert index in explain(
            large_ledger, statement, {"of": "quiet", "status": "pending", "limit": 50}
        )


def test_a_session_within_a_project_is_found_by_the_index_of_the_session(
    large_ledger: Ledger,
) -> None:
    project_ledger = ProjectLedger(large_ledger.database, "p")
    for table, column, index in (
        (ACTIONS, "session", "actions_by_session"),
        (ACTIONS, "subtask", "actions_by_subtask"),
        (SUBTASKS, "session", "subtasks_by_session"),
        (TASKS, "session", "tasks_in_session"),
        (REQUESTS, "session", "requests_by_session"),
    ):
        conditions = [f"{column} = :of", project_ledger.build_scope_condition(table)]
        statement = table.select(conditions, newest_first=True, has_limit=True)
        assert index in explain(
            large_ledger, statement, {"of": "quiet", "limit": 50, **project_ledger.scope_values}
        )


def test_a_session_with_many_rows_is_found_by_an_index(large_ledger: Ledger) -> None:
    """PostgreSQL has statistics for frequent values and plans for them separately."""
    for table, index in ((TASKS, "tasks_in_session"), (ACTIONS, "actions_by_session")):
        statement = table.select(["session = 'busy'"], newest_first=True, has_limit=True)
        database = large_ledger.database
        if database.dialect == "postgres":
            database.run(f"UPDATE {table.name} SET session = 'other' WHERE id > 'x3'")
            database.run(f"ANALYZE {table.name}")
        assert index in explain(large_ledger, statement, {"limit": 50})


def test_a_restore_reads_only_the_actions_of_its_session(large_ledger: Ledger) -> None:
    statement = _OVERVIEW.format_map({table.name: MATCH_ALL for table in _TABLES})
    plan = explain(large_ledger, statement, {"session": "quiet", "agent": ""})
    assert "actions_by_session" in plan
    assert "actions_by_time" not in plan


def test_dependents_are_found_by_the_index_of_waiting_subtasks(
    large_ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements: list[tuple[str, Any]] = []
    run = type(large_ledger.database).run

    def record_and_run(self: Any, statement: str, values: Any = (), lock: str = "") -> Any:
        statements.append((statement, values))
        return run(self, statement, values, lock)

    with monkeypatch.context() as patch:
        patch.setattr(type(large_ledger.database), "run", record_and_run)
        assert not [*dependencies.find_dependents(large_ledger, {"a", "b"}, "blocked")]
        assert not [
            *dependencies.find_dependents(large_ledger, {str(number) for number in range(120)})
        ]
    assert len(statements) == 4, "one statement for many ids"
    assert "subtasks_waiting" in explain(large_ledger, *statements[0])
    assert not any("ORDER" in statement for statement, _ in statements)


def test_a_subtask_is_unblocked_when_its_last_blocker_is_completed_or_deleted(
    large_ledger: Ledger,
) -> None:
    (first,) = large_ledger.find(SUBTASKS, session="quiet")
    task = large_ledger.require(TASKS, first["task"])
    second = work.add_subtask(
        large_ledger, 14.0, task=task, description="b", blocked_by=[first["id"]]
    )
    assert get_status(large_ledger, second) == "blocked"
    set_status(large_ledger, first)
    assert get_status(large_ledger, second) == "pending"
    blockers = [
        work.add_subtask(large_ledger, 15.0, task=task, description=f"part {number}")
        for number in range(3)
    ]
    blocker_ids = [row["id"] for row in blockers]
    last = work.add_subtask(
        large_ledger, 16.0, description="waits",
        task=make_task(large_ledger, "after it", session="busy"),
        blocked_by=[*blocker_ids, second["id"]],
    )  # fmt: skip
    third = work.add_subtask(
        large_ledger, 17.0, task=task, description="too", blocked_by=blocker_ids[:1]
    )
    dependencies.remove_dependencies(large_ledger, set(blocker_ids), 18.0)
    assert large_ledger.require(SUBTASKS, last["id"])["blocked_by"] == [second["id"]]
    assert (get_status(large_ledger, last), get_status(large_ledger, third)) == (
        "blocked",
        "pending",
    )
