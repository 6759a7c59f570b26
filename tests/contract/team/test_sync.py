"""Sync between machines and a team database loses and duplicates nothing."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.errors import StoreUnavailable
from holdfast.ledger import messages, projects, work
from holdfast.ledger.actions import add_action
from holdfast.ledger.repository import Ledger, Row
from holdfast.ledger.schema import (
    ACTIONS,
    MESSAGES,
    PROJECTS,
    REQUESTS,
    SUBSCRIPTIONS,
    SUBTASKS,
    TASKS,
)
from holdfast.services.team.retention import remove_expired
from holdfast.services.team.sync import SyncResult
from holdfast.store.copy import SessionCopier
from holdfast.store.postgres import PostgresStore
from holdfast.store.sqlite import SQLiteStore

from .machine import TEAM, Machine


def list_team_rows(team: PostgresStore, table: Any = REQUESTS) -> list[Row]:
    return Ledger(team.database).find(table, newest_first=False)


def test_a_session_arrives_with_its_snapshots_compactions_and_work(
    machine: Machine, team: PostgresStore
) -> None:
    snapshot = machine.add_session("s1", "add login")
    machine.store.open_compaction("s1", 1, trigger="auto", snapshot=snapshot, now=5.0)
    machine.store.note_summary("s1", 1, "a summary")
    machine.sync()
    assert team.session("s1") == machine.store.session("s1")
    assert team.snapshots("s1") == machine.store.snapshots("s1")
    assert team.compactions("s1") == machine.store.compactions("s1")
    assert [row["prompt"] for row in list_team_rows(team)] == ["add login"]


def add_handoff(store: SQLiteStore, session: str, text: str, now: float, agent: str = "a1") -> str:
    return store.add_handoff(
        session, agent=agent, content={"context_summary": text}, raw=text, agent_type="Explore",
        task="look around", line=3, status="completed", decision="", tokens_before=9,
        tokens_after=2, now=now,
    )  # fmt: skip


def test_handoffs_arrive_and_are_updated(machine: Machine, team: PostgresStore) -> None:
    machine.add_session("s1", "add login")
    machine.sync()
    ident = add_handoff(machine.store, "s1", "found it", 5.0)
    assert machine.count_unsent()[0] == 1
    machine.sync()
    assert team.handoff(ident) == machine.store.handoff(ident)
    add_handoff(machine.store, "s1", "fixed it", 6.0)
    machine.sync()
    assert [row["raw"] for row in team.handoffs("s1")] == ["fixed it"]


def test_two_sessions_with_the_same_handoff_id_keep_both_handoffs(
    machines: tuple[Machine, Machine], team: PostgresStore
) -> None:
    for number, machine in enumerate(machines):
        machine.add_session(f"s{number}", "add login")
        ident = add_handoff(machine.store, f"s{number}", f"words {number}", 5.0)
        machine.store.database.run("UPDATE handoffs SET id = 'same' WHERE id = ?", (ident,))
        machine.sync()
    machines[1].ledger.save_progress(f"sent to {TEAM}", {})
    machines[1].sync()
    (first,), (second,) = team.handoffs("s0"), team.handoffs("s1")
    assert (first["id"], first["raw"], second["raw"]) == ("same", "words 0", "words 1")


def test_texts_pruned_on_a_machine_stay_in_the_team_database(
    machine: Machine, team: PostgresStore
) -> None:
    machine.add_session("s1", "add login")
    for ordinal in (1, 2):
        machine.store.open_compaction("s1", ordinal, trigger="auto", snapshot=None, now=5.0)
        machine.store.note_summary("s1", ordinal, f"summary {ordinal}")
        machine.store.note_brief(
            "s1", ordinal, brief_id=f"b{ordinal}", brief=f"brief {ordinal}", line=1,
            delivered_by="SessionStart", now=5.0,
        )  # fmt: skip
    machine.sync()
    before = team.compactions("s1")
    machine.store.prune("s1", snapshots=1, compactions=1)
    assert [row["summary"] for row in machine.store.compactions("s1")] == [None, "summary 2"]
    machine.sync()
    assert team.compactions("s1") == before


def test_a_repeated_compaction_replaces_the_texts_of_the_first(
    machine: Machine, team: PostgresStore
) -> None:
    first, second = (
        machine.add_session("s1", "add login"),
        machine.add_session("s1", "add login", "go on"),
    )
    machine.store.open_compaction("s1", 1, trigger="auto", snapshot=first, now=5.0)
    machine.store.note_summary("s1", 1, "a cancelled compaction")
    machine.sync()
    machine.store.open_compaction("s1", 1, trigger="auto", snapshot=second, now=6.0)
    machine.sync()
    assert [row["summary"] for row in team.compactions("s1")] == [None]


def test_only_new_data_is_pushed(machine: Machine, team: PostgresStore) -> None:
    machine.add_session("s1", "add login")
    assert machine.count_unsent() == (1, 0)
    assert machine.sync().sessions == 1
    assert machine.count_unsent() == (0, 0)
    assert machine.sync() == SyncResult(sessions=0, rows=0)
    machine.add_session("s1", "add login", "and logout")
    assert machine.sync().sessions == 1
    session = team.session("s1")
    assert session is not None
    assert len(session["state"]["requests"]) == 2
    assert [row["prompt"] for row in list_team_rows(team)] == ["add login", "and logout"]


def test_a_later_receipt_is_pushed(machine: Machine, team: PostgresStore) -> None:
    machine.add_session("s1", "add login")
    machine.store.open_compaction("s1", 1, trigger="auto", snapshot=None, now=5.0)
    machine.sync()
    machine.store.note_receipt("s1", 1, "whole", 9)
    machine.sync()
    assert [row["receipt"] for row in team.compactions("s1")] == ["whole"]


def test_pushing_everything_again_duplicates_nothing(machine: Machine, team: PostgresStore) -> None:
    machine.add_session("s1", "add login")
    add_action(machine.ledger, 5.0, tool_name="Read", ident="a1", session="s1")
    machine.sync()
    changes = Ledger(team.database).list_changes(limit=1000)
    machine.ledger.save_sent_position(TEAM, 0, 0.0)
    machine.ledger.save_progress(f"sent to {TEAM}", {})
    assert machine.sync().rows > 0
    assert Ledger(team.database).list_changes(limit=1000) == changes
    assert (
        len(list_team_rows(team))
        == len(list_team_rows(team, ACTIONS))
        == len(team.snapshots("s1"))
        == 1
    )


def test_two_machines_share_one_project(
    machines: tuple[Machine, Machine], team: PostgresStore
) -> None:
    for number, machine in enumerate(machines):
        projects.ensure_project(
            machine.ledger, f"/home/{number}/app", 1.0, origin="example.org/app"
        )
        machine.add_session(f"s{number}", f"work of {number}")
    for machine in (*machines, *reversed(machines)):
        machine.sync()
    assert len(list_team_rows(team, REQUESTS)) == 2
    ledger = Ledger(team.database)
    ids = {projects.find_by_path(ledger, f"/home/{number}/app")["id"] for number in range(2)}
    assert len(ids) == 1


def test_a_request_posted_to_the_team_is_merged_with_the_same_one_of_a_session(
    machine: Machine, team: PostgresStore
) -> None:
    work.add_request(Ledger(team.database), 1.0, project="", session="s1", prompt="Add  login")
    machine.add_session("s1", "add login")
    machine.sync()
    (row,) = list_team_rows(team)
    assert row["posted"] == 1
    assert row["source"] == "s1:L1"


def test_a_status_set_in_the_team_database_stays_until_the_session_changes_it(
    machine: Machine, team: PostgresStore
) -> None:
    team_ledger = Ledger(team.database)
    request = work.add_request(
        team_ledger, 1.0, project="", session="s1", prompt="add login", metadata={"ticket": "T-1"}
    )
    tasks = [
        work.add_task(team_ledger, 1.0, request=request, name=name, wave_number=3, status=status)
        for name, status in (("schema", "completed"), ("form", "pending"))
    ]
    work.add_subtask(
        team_ledger, 1.0, task=tasks[1], description="look around", agent_type="Explore", priority=9
    )
    machine.add_planned_session(
        "s1", "add login", {"schema": "pending", "form": "pending"}, "look around"
    )
    machine.sync()
    (request,), (subtask,) = list_team_rows(team), list_team_rows(team, SUBTASKS)
    assert (request["metadata"], request["source"]) == ({"ticket": "T-1"}, "s1:L1")
    assert [(row["status"], row["wave_number"]) for row in list_planned_tasks(team)] == [
        ("completed", 3), ("pending", 3),
    ]  # fmt: skip
    assert (subtask["priority"], subtask["task"]) == (9, tasks[1]["id"])
    assert subtask["source"] == "s1:agent:c1"
    machine.add_planned_session("s1", "add login", {"schema": "in_progress", "form": "completed"})
    machine.sync()
    assert [row["status"] for row in list_planned_tasks(team)] == ["running", "completed"]


def list_planned_tasks(team: PostgresStore) -> list[Row]:
    return [row for row in list_team_rows(team, TASKS) if row["name"] in ("schema", "form")]


def test_the_idempotency_key_of_a_caller_still_works_in_the_team_database(
    machine: Machine, team: PostgresStore
) -> None:
    team_ledger = Ledger(team.database)
    request: dict[str, Any] = {"project": "", "session": "s1"}
    local = work.add_request(machine.ledger, 1.0, prompt="add login", key="k1", **request)
    remote = work.add_request(team_ledger, 1.0, prompt="add logout", key="k2", **request)
    machine.add_session("s1", "add login", "add logout")
    machine.sync()
    for prompt, key, row in (("add login", "k1", local), ("add logout", "k2", remote)):
        repeated = work.add_request(team_ledger, 9.0, prompt=prompt, key=key, **request)
        assert (repeated["id"], bool(repeated["source"])) == (row["id"], True)
    assert len(list_team_rows(team)) == 2


def test_a_project_keeps_the_name_given_in_the_team_database(
    machine: Machine, team: PostgresStore
) -> None:
    team_ledger = Ledger(team.database)
    projects.ensure_project(team_ledger, "/srv/app", 1.0, name="Fancy", metadata={"owner": "ada"})
    machine.add_session("s1", "add login")
    machine.sync()
    (row,) = list_team_rows(team, PROJECTS)
    assert (row["name"], row["metadata"]) == ("Fancy", {"owner": "ada"})


def test_the_first_sync_pushes_everything(machine: Machine, team: PostgresStore) -> None:
    for number in range(120):
        add_action(machine.ledger, float(number), ident=f"a{number}", tool_name="Read")
    machine.add_session("s1", "add login")
    remove_expired(machine.store, machine.ledger, 1e12)
    assert machine.ledger.count_changed_rows(0) <= 1, "the changes must be pruned"
    assert machine.count_unsent()[1] >= 120
    sent = machine.sync()
    assert (sent.rows >= 120, len(list_team_rows(team, ACTIONS))) == (True, 120)
    assert (machine.count_unsent(), machine.sync().rows) == ((0, 0), 0)


def test_the_latest_change_wins_in_any_order_of_pushes(
    machines: tuple[Machine, Machine], team: PostgresStore
) -> None:
    first, second = machines
    for machine in machines:
        request = work.add_request(
            machine.ledger, 10.0, project="p", session="s1", prompt="add login"
        )
        work.add_task(machine.ledger, 10.0, request=request, name="schema")
    for machine, status, at in ((first, "completed", 30.0), (second, "running", 20.0)):
        (task,) = machine.ledger.find(TASKS)
        work.set_status(machine.ledger, TASKS, task, status, at)
    first.sync()
    second.sync()
    assert [row["status"] for row in list_team_rows(team, TASKS)] == ["completed"]


def test_rows_deleted_on_a_machine_are_deleted_in_the_team_database(
    machine: Machine, team: PostgresStore
) -> None:
    messages.subscribe(machine.ledger, "a", "api", 1.0)
    machine.sync()
    assert len(list_team_rows(team, SUBSCRIPTIONS)) == 1
    messages.unsubscribe(machine.ledger, "a", "api", 2.0)
    machine.sync()
    assert list_team_rows(team, SUBSCRIPTIONS) == []


def test_an_interrupted_sync_is_completed_by_the_next_one(
    machine: Machine, team: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(250):
        messages.send(machine.ledger, float(number), ident=f"m{number}", from_agent_id="a")
    original_run = team.database.run
    inserts = 0

    def fail_after_150_inserts(statement: str, *arguments: Any) -> Any:
        nonlocal inserts
        inserts += "INTO messages" in statement
        if inserts >= 150:
            raise StoreUnavailable("the network is down")
        return original_run(statement, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(team.database, "run", fail_after_150_inserts)
        with pytest.raises(StoreUnavailable):
            machine.sync()
    assert 0 < len(list_team_rows(team, MESSAGES)) < 250, "the first batches must be stored"
    machine.sync()
    assert len(list_team_rows(team, MESSAGES)) == 250
    assert machine.count_unsent() == (0, 0)


def test_two_snapshots_with_the_same_id_are_both_kept(
    machines: tuple[Machine, Machine], team: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.urandom", lambda size: b"\xab" * size)
    for number, machine in enumerate(machines):
        snapshot = machine.add_session(f"s{number}", f"work of {number}")
        assert snapshot == "abababab"
        machine.store.open_compaction(f"s{number}", 1, trigger="auto", snapshot=snapshot, now=5.0)
    for attempt in range(2):
        for number, machine in enumerate(machines):
            machine.store.note_summary(f"s{number}", 1, f"summary {attempt}")
            assert machine.sync().sessions == 1
    for number in range(2):
        row = team.compaction(f"s{number}", 1)
        assert row is not None
        assert row["snapshot"] is not None
        snapshot_row = team.snapshot(row["snapshot"])
        assert snapshot_row["session"] == f"s{number}"
        assert len(team.snapshots(f"s{number}")) == 1


def empty_database(team: PostgresStore) -> None:
    """Delete all rows, like a new database at the same address."""
    tables = team.database.run(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema() "
        "AND table_name <> 'migrations' AND table_type = 'BASE TABLE'"
    )[0]
    names = [row["table_name"] for row in tables if "version" not in row["table_name"]]
    team.database.run(f"TRUNCATE {', '.join(names)}")


def test_everything_is_pushed_to_a_recreated_database(
    machine: Machine, team: PostgresStore
) -> None:
    machine.add_session("s1", "add login")
    machine.sync()
    empty_database(team)
    machine.sync()
    assert team.session("s1") == machine.store.session("s1")
    assert [row["prompt"] for row in list_team_rows(team)] == ["add login"]
    assert machine.sync() == SyncResult(sessions=0, rows=0)


def test_missing_data_is_pushed_to_a_restored_backup(machine: Machine, team: PostgresStore) -> None:
    machine.add_session("s1", "add login")
    machine.sync()
    team_ledger = Ledger(team.database)
    (name,) = (
        row["id"]
        for row in team.database.run("SELECT id FROM readings")[0]
        if row["id"].startswith("sent by ")
    )
    progress = team_ledger.load_progress(name)
    machine.add_session("s2", "add logout")
    machine.sync()
    with team_ledger.transaction():
        for table in ("requests", "snapshots", "sessions"):
            column = "id" if table == "sessions" else "session"
            team.database.run(f"DELETE FROM {table} WHERE {column} = 's2'")
    team_ledger.save_progress(name, progress)
    machine.sync()
    assert sorted(row["prompt"] for row in list_team_rows(team)) == ["add login", "add logout"]
    assert team.session("s2") == machine.store.session("s2")


def test_deletions_are_part_of_a_full_push(machine: Machine, team: PostgresStore) -> None:
    messages.send(machine.ledger, 1.0, ident="m1", from_agent_id="a")
    machine.sync()
    row = machine.ledger.require(MESSAGES, "m1")
    machine.ledger.delete(MESSAGES, row, 5.0)
    # As if the same database had another address.
    machine.ledger.save_progress(f"team at {TEAM}", {})
    machine.ledger.delete_sent_position(TEAM)
    machine.sync()
    assert list_team_rows(team, MESSAGES) == []


def test_a_rejected_row_does_not_block_others(
    machine: Machine, team: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.add_session("good", "add login")
    machine.add_session("bad", "add logout")
    path = "/" + "".join(chr(0x4E00 + (number * 7919) % 20_000) for number in range(3000))
    bad = projects.ensure_project(machine.ledger, path, 1.0)["id"]
    messages.send(machine.ledger, 2.0, ident="m1", from_agent_id="a")
    original_copy = SessionCopier.copy

    def copy_or_fail(self: SessionCopier, session: str) -> None:
        if session == "bad":
            raise OverflowError("too large")
        original_copy(self, session)

    with monkeypatch.context() as patch:
        patch.setattr(SessionCopier, "copy", copy_or_fail)
        result = machine.sync()
    assert sorted(entry.split(":")[0].split(" ")[0] for entry in result.skipped) == [
        "project_paths", "session",
    ]  # fmt: skip
    assert any("bad: too large" in entry for entry in result.skipped)
    assert [row["id"] for row in list_team_rows(team, MESSAGES)] == ["m1"]
    assert team.session("good") is not None
    assert len(machine.sync().skipped) == 1, (
        "the session must be pushed now, and the project must be tried again"
    )
    assert team.session("bad") is not None
    machine.ledger.database.run("DELETE FROM project_paths WHERE project = :id", {"id": bad})
    assert machine.sync().skipped == ()


def test_a_corrected_clock_does_not_keep_an_old_state(
    machine: Machine, team: PostgresStore
) -> None:
    machine.now = 90_000.0
    machine.add_session("s1", "add login")
    machine.sync()
    machine.now = 1000.0
    machine.add_session("s1", "add login", "now the clock is right")
    machine.sync()
    assert team.session("s1") is not None
    assert team.session("s1")["state"] == machine.store.session("s1")["state"]  # type: ignore[index]
    assert machine.count_unsent() == (0, 0)


def test_snapshots_deleted_in_the_team_database_are_not_pushed_again(
    machine: Machine, team: PostgresStore
) -> None:
    for line in (3, 6, 9):
        machine.add_session("s1", "add login")
        state = machine.store.session("s1")["state"]  # type: ignore[index]
        machine.store.add_snapshot("s1", "auto", {**state, "lines": line}, machine.now)
    machine.sync()
    team.database.run("DELETE FROM snapshots WHERE line < 9")
    remaining = [row["id"] for row in team.snapshots("s1")]
    machine.add_session("s1", "add login", "one more")
    machine.sync()
    after_sync = [row["id"] for row in team.snapshots("s1")]
    assert set(remaining) < set(after_sync)
    assert all(row["line"] == 9 for row in team.snapshots("s1"))


def test_a_session_id_that_looks_like_a_secret_is_pushed_once(machine: Machine) -> None:
    machine.add_session("fix-auth-token", "add login")
    assert machine.sync().sessions == 1
    assert machine.sync().sessions == 0
    assert machine.count_unsent() == (0, 0)


def test_requests_deleted_by_callers_do_not_return_with_the_transcript(
    machine: Machine, team: PostgresStore
) -> None:
    team_ledger = Ledger(team.database)
    deleted = work.add_request(team_ledger, 1.0, project="", session="s1", prompt="forget me")
    team_ledger.delete(REQUESTS, deleted, 5000.0)
    machine.add_session("s1", "forget me")
    machine.sync()
    assert list_team_rows(team) == []
    machine.add_session("s1", "forget me", "and this is new")
    machine.sync()
    assert [row["prompt"] for row in list_team_rows(team)] == ["and this is new"]
