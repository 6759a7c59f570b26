"""Two machines and one team: nothing is lost or duplicated, whichever was offline."""

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


def shared(team: PostgresStore, table: Any = REQUESTS) -> list[Row]:
    return Ledger(team.database).find(table, newest_first=False)


def test_a_session_arrives_with_its_snapshots_compactions_and_work(
    machine: Machine, team: PostgresStore
) -> None:
    snapshot = machine.session("s1", "add login")
    machine.store.open_compaction("s1", 1, trigger="auto", snapshot=snapshot, now=5.0)
    machine.store.note_summary("s1", 1, "a summary")
    machine.sync()
    assert team.session("s1") == machine.store.session("s1")
    assert team.snapshots("s1") == machine.store.snapshots("s1")
    assert team.compactions("s1") == machine.store.compactions("s1")
    assert [row["prompt"] for row in shared(team)] == ["add login"]


def hand_on(store: SQLiteStore, session: str, words: str, now: float, agent: str = "a1") -> str:
    return store.add_handoff(
        session, agent=agent, content={"context_summary": words}, raw=words, agent_type="Explore",
        task="look around", line=3, status="completed", decision="", tokens_before=9,
        tokens_after=2, now=now,
    )  # fmt: skip


def test_handoffs_arrive_and_are_updated(machine: Machine, team: PostgresStore) -> None:
    machine.session("s1", "add login")
    machine.sync()
    ident = hand_on(machine.store, "s1", "found it", 5.0)
    assert machine.waits()[0] == 1
    machine.sync()
    assert team.handoff(ident) == machine.store.handoff(ident)
    hand_on(machine.store, "s1", "fixed it", 6.0)
    machine.sync()
    assert [row["raw"] for row in team.handoffs("s1")] == ["fixed it"]


def test_two_sessions_with_the_same_handoff_id_keep_both_handoffs(
    machines: tuple[Machine, Machine], team: PostgresStore
) -> None:
    for number, machine in enumerate(machines):
        machine.session(f"s{number}", "add login")
        ident = hand_on(machine.store, f"s{number}", f"words {number}", 5.0)
        machine.store.database.run("UPDATE handoffs SET id = 'same' WHERE id = ?", (ident,))
        machine.sync()
    machines[1].ledger.save_progress(f"sent to {TEAM}", {})
    machines[1].sync()
    (mine,), (theirs,) = team.handoffs("s0"), team.handoffs("s1")
    assert (mine["id"], mine["raw"], theirs["raw"]) == ("same", "words 0", "words 1")


def test_a_brief_shortened_on_a_machine_stays_whole_with_the_team(
    machine: Machine, team: PostgresStore
) -> None:
    machine.session("s1", "add login")
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


def test_a_compaction_that_replaces_an_announced_one_drops_its_texts(
    machine: Machine, team: PostgresStore
) -> None:
    first, second = machine.session("s1", "add login"), machine.session("s1", "add login", "go on")
    machine.store.open_compaction("s1", 1, trigger="auto", snapshot=first, now=5.0)
    machine.store.note_summary("s1", 1, "never came")
    machine.sync()
    machine.store.open_compaction("s1", 1, trigger="auto", snapshot=second, now=6.0)
    machine.sync()
    assert [row["summary"] for row in team.compactions("s1")] == [None]


def test_only_what_is_new_is_sent(machine: Machine, team: PostgresStore) -> None:
    machine.session("s1", "add login")
    assert machine.waits() == (1, 0)
    assert machine.sync().sessions == 1
    assert machine.waits() == (0, 0)
    assert machine.sync() == SyncResult(sessions=0, rows=0)
    machine.session("s1", "add login", "and logout")
    assert machine.sync().sessions == 1
    found = team.session("s1")
    assert found is not None
    assert len(found["state"]["requests"]) == 2
    assert [row["prompt"] for row in shared(team)] == ["add login", "and logout"]


def test_a_late_receipt_arrives_too(machine: Machine, team: PostgresStore) -> None:
    machine.session("s1", "add login")
    machine.store.open_compaction("s1", 1, trigger="auto", snapshot=None, now=5.0)
    machine.sync()
    machine.store.note_receipt("s1", 1, "whole", 9)
    machine.sync()
    assert [row["receipt"] for row in team.compactions("s1")] == ["whole"]


def test_sending_everything_again_duplicates_nothing(machine: Machine, team: PostgresStore) -> None:
    machine.session("s1", "add login")
    add_action(machine.ledger, 5.0, tool_name="Read", ident="a1", session="s1")
    machine.sync()
    changes = Ledger(team.database).list_changes(limit=1000)
    machine.ledger.save_sent_position(TEAM, 0, 0.0)
    machine.ledger.save_progress(f"sent to {TEAM}", {})
    assert machine.sync().rows > 0
    assert Ledger(team.database).list_changes(limit=1000) == changes
    assert len(shared(team)) == len(shared(team, ACTIONS)) == len(team.snapshots("s1")) == 1


def test_two_machines_share_one_project(
    machines: tuple[Machine, Machine], team: PostgresStore
) -> None:
    for number, machine in enumerate(machines):
        projects.ensure_project(
            machine.ledger, f"/home/{number}/app", 1.0, origin="example.org/app"
        )
        machine.session(f"s{number}", f"work of {number}")
    for machine in (*machines, *reversed(machines)):
        machine.sync()
    assert len(shared(team, REQUESTS)) == 2
    ledger = Ledger(team.database)
    ids = {projects.find_by_path(ledger, f"/home/{number}/app")["id"] for number in range(2)}
    assert len(ids) == 1


def test_a_row_posted_at_the_team_and_the_same_row_from_the_fold_are_merged(
    machine: Machine, team: PostgresStore
) -> None:
    work.add_request(Ledger(team.database), 1.0, project="", session="s1", prompt="Add  login")
    machine.session("s1", "add login")
    machine.sync()
    (row,) = shared(team)
    assert row["posted"] == 1
    assert row["source"] == "s1:L1"


def test_a_status_set_at_the_team_stays_until_the_session_changes_it(
    machine: Machine, team: PostgresStore
) -> None:
    there = Ledger(team.database)
    request = work.add_request(
        there, 1.0, project="", session="s1", prompt="add login", metadata={"ticket": "T-1"}
    )
    tasks = [
        work.add_task(there, 1.0, request=request, name=name, wave_number=3, status=status)
        for name, status in (("schema", "completed"), ("form", "pending"))
    ]
    work.add_subtask(
        there, 1.0, task=tasks[1], description="look around", agent_type="Explore", priority=9
    )
    machine.planned("s1", "add login", {"schema": "pending", "form": "pending"}, "look around")
    machine.sync()
    (kept,), (part,) = shared(team), shared(team, SUBTASKS)
    assert (kept["metadata"], kept["source"]) == ({"ticket": "T-1"}, "s1:L1")
    assert [(row["status"], row["wave_number"]) for row in tasks_of(team)] == [
        ("completed", 3), ("pending", 3),
    ]  # fmt: skip
    assert (part["priority"], part["task"], part["source"]) == (9, tasks[1]["id"], "s1:agent:c1")
    machine.planned("s1", "add login", {"schema": "in_progress", "form": "completed"})
    machine.sync()
    assert [row["status"] for row in tasks_of(team)] == ["running", "completed"]


def tasks_of(team: PostgresStore) -> list[Row]:
    return [row for row in shared(team, TASKS) if row["name"] in ("schema", "form")]


def test_an_idempotency_key_of_a_caller_is_kept_at_the_team(
    machine: Machine, team: PostgresStore
) -> None:
    there = Ledger(team.database)
    request: dict[str, Any] = {"project": "", "session": "s1"}
    here = work.add_request(machine.ledger, 1.0, prompt="add login", key="k1", **request)
    also = work.add_request(there, 1.0, prompt="add logout", key="k2", **request)
    machine.session("s1", "add login", "add logout")
    machine.sync()
    for prompt, key, row in (("add login", "k1", here), ("add logout", "k2", also)):
        again = work.add_request(there, 9.0, prompt=prompt, key=key, **request)
        assert (again["id"], bool(again["source"])) == (row["id"], True)
    assert len(shared(team)) == 2


def test_a_project_keeps_the_name_given_at_the_team(machine: Machine, team: PostgresStore) -> None:
    there = Ledger(team.database)
    projects.ensure_project(there, "/srv/app", 1.0, name="Fancy", metadata={"owner": "ada"})
    machine.session("s1", "add login")
    machine.sync()
    (row,) = shared(team, PROJECTS)
    assert (row["name"], row["metadata"]) == ("Fancy", {"owner": "ada"})


def test_the_first_sync_sends_everything(machine: Machine, team: PostgresStore) -> None:
    for number in range(120):
        add_action(machine.ledger, float(number), ident=f"a{number}", tool_name="Read")
    machine.session("s1", "add login")
    remove_expired(machine.store, machine.ledger, 1e12)
    assert machine.ledger.count_changed_rows(0) <= 1, "their changes are deleted"
    assert machine.waits()[1] >= 120
    sent = machine.sync()
    assert (sent.rows >= 120, len(shared(team, ACTIONS))) == (True, 120)
    assert (machine.waits(), machine.sync().rows) == ((0, 0), 0)


def test_the_latest_change_wins_in_any_order_of_pushes(
    machines: tuple[Machine, Machine], team: PostgresStore
) -> None:
    one, two = machines
    for machine in machines:
        request = work.add_request(
            machine.ledger, 10.0, project="p", session="s1", prompt="add login"
        )
        work.add_task(machine.ledger, 10.0, request=request, name="schema")
    for machine, status, at in ((one, "completed", 30.0), (two, "running", 20.0)):
        (task,) = machine.ledger.find(TASKS)
        work.set_status(machine.ledger, TASKS, task, status, at)
    one.sync()
    two.sync()
    assert [row["status"] for row in shared(team, TASKS)] == ["completed"]


def test_rows_deleted_here_are_deleted_at_the_team(machine: Machine, team: PostgresStore) -> None:
    messages.subscribe(machine.ledger, "a", "api", 1.0)
    machine.sync()
    assert len(shared(team, SUBSCRIPTIONS)) == 1
    messages.unsubscribe(machine.ledger, "a", "api", 2.0)
    machine.sync()
    assert shared(team, SUBSCRIPTIONS) == []


def test_after_a_week_offline_nothing_is_missing(
    machine: Machine, team: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(250):
        messages.send(machine.ledger, float(number), ident=f"m{number}", from_agent_id="a")
    real = team.database.run
    written = 0

    def breaks(statement: str, *given: Any) -> Any:
        nonlocal written
        written += "INTO messages" in statement
        if written >= 150:
            raise StoreUnavailable("the network went away")
        return real(statement, *given)

    with monkeypatch.context() as away:
        away.setattr(team.database, "run", breaks)
        with pytest.raises(StoreUnavailable):
            machine.sync()
    assert 0 < len(shared(team, MESSAGES)) < 250, "what arrived before is there"
    machine.sync()
    assert len(shared(team, MESSAGES)) == 250
    assert machine.waits() == (0, 0)


def test_two_snapshots_that_happen_to_have_one_id_are_both_kept(
    machines: tuple[Machine, Machine], team: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.urandom", lambda size: b"\xab" * size)
    for number, machine in enumerate(machines):
        snapshot = machine.session(f"s{number}", f"work of {number}")
        assert snapshot == "abababab"
        machine.store.open_compaction(f"s{number}", 1, trigger="auto", snapshot=snapshot, now=5.0)
    for turn in range(2):
        for number, machine in enumerate(machines):
            machine.store.note_summary(f"s{number}", 1, f"summary {turn}")
            assert machine.sync().sessions == 1
    for number in range(2):
        row = team.compaction(f"s{number}", 1)
        assert row is not None
        assert row["snapshot"] is not None
        saved = team.snapshot(row["snapshot"])
        assert saved["session"] == f"s{number}"
        assert len(team.snapshots(f"s{number}")) == 1


def emptied(team: PostgresStore) -> None:
    """The same address, and behind it a new database."""
    found = team.database.run(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema() "
        "AND table_name <> 'migrations' AND table_type = 'BASE TABLE'"
    )[0]
    names = [row["table_name"] for row in found if "version" not in row["table_name"]]
    team.database.run(f"TRUNCATE {', '.join(names)}")


def test_a_recreated_database_gets_everything(machine: Machine, team: PostgresStore) -> None:
    machine.session("s1", "add login")
    machine.sync()
    emptied(team)
    machine.sync()
    assert team.session("s1") == machine.store.session("s1")
    assert [row["prompt"] for row in shared(team)] == ["add login"]
    assert machine.sync() == SyncResult(sessions=0, rows=0)


def test_a_restored_backup_gets_what_it_lacks(machine: Machine, team: PostgresStore) -> None:
    machine.session("s1", "add login")
    machine.sync()
    there = Ledger(team.database)
    (name,) = (
        row["id"]
        for row in team.database.run("SELECT id FROM readings")[0]
        if row["id"].startswith("sent by ")
    )
    word = there.load_progress(name)
    machine.session("s2", "add logout")
    machine.sync()
    with there.transaction():
        for table in ("requests", "snapshots", "sessions"):
            column = "id" if table == "sessions" else "session"
            team.database.run(f"DELETE FROM {table} WHERE {column} = 's2'")
    there.save_progress(name, word)
    machine.sync()
    assert sorted(row["prompt"] for row in shared(team)) == ["add login", "add logout"]
    assert team.session("s2") == machine.store.session("s2")


def test_deletions_are_part_of_a_full_push(machine: Machine, team: PostgresStore) -> None:
    messages.send(machine.ledger, 1.0, ident="m1", from_agent_id="a")
    machine.sync()
    row = machine.ledger.require(MESSAGES, "m1")
    machine.ledger.delete(MESSAGES, row, 5.0)
    # The same database under another spelling of its address.
    machine.ledger.save_progress(f"team at {TEAM}", {})
    machine.ledger.delete_sent_position(TEAM)
    machine.sync()
    assert shared(team, MESSAGES) == []


def test_a_rejected_row_does_not_block_others(
    machine: Machine, team: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.session("good", "add login")
    machine.session("bad", "add logout")
    path = "/" + "".join(chr(0x4E00 + (number * 7919) % 20_000) for number in range(3000))
    bad = projects.ensure_project(machine.ledger, path, 1.0)["id"]
    messages.send(machine.ledger, 2.0, ident="m1", from_agent_id="a")
    real = SessionCopier.copy

    def copy(self: SessionCopier, session: str) -> None:
        if session == "bad":
            raise OverflowError("too large")
        real(self, session)

    with monkeypatch.context() as broken:
        broken.setattr(SessionCopier, "copy", copy)
        sent = machine.sync()
    assert sorted(one.split(":")[0].split(" ")[0] for one in sent.skipped) == [
        "project_paths", "session",
    ]  # fmt: skip
    assert any("bad: too large" in one for one in sent.skipped)
    assert [row["id"] for row in shared(team, MESSAGES)] == ["m1"]
    assert team.session("good") is not None
    assert len(machine.sync().skipped) == 1, "one can be sent now, and the other is tried again"
    assert team.session("bad") is not None
    machine.ledger.database.run("DELETE FROM project_paths WHERE project = :id", {"id": bad})
    assert machine.sync().skipped == ()


def test_a_corrected_clock_does_not_keep_an_old_state(
    machine: Machine, team: PostgresStore
) -> None:
    machine.now = 90_000.0
    machine.session("s1", "add login")
    machine.sync()
    machine.now = 1000.0
    machine.session("s1", "add login", "now the clock is right")
    machine.sync()
    assert team.session("s1") is not None
    assert team.session("s1")["state"] == machine.store.session("s1")["state"]  # type: ignore[index]
    assert machine.waits() == (0, 0)


def test_snapshots_deleted_at_the_team_do_not_come_back(
    machine: Machine, team: PostgresStore
) -> None:
    for line in (3, 6, 9):
        machine.session("s1", "add login")
        state = machine.store.session("s1")["state"]  # type: ignore[index]
        machine.store.add_snapshot("s1", "auto", {**state, "lines": line}, machine.now)
    machine.sync()
    team.database.run("DELETE FROM snapshots WHERE line < 9")
    left = [row["id"] for row in team.snapshots("s1")]
    machine.session("s1", "add login", "one more")
    machine.sync()
    now = [row["id"] for row in team.snapshots("s1")]
    assert set(left) < set(now)
    assert all(row["line"] == 9 for row in team.snapshots("s1"))


def test_a_session_id_that_looks_like_a_secret_is_sent_once(machine: Machine) -> None:
    machine.session("fix-auth-token", "add login")
    assert machine.sync().sessions == 1
    assert machine.sync().sessions == 0
    assert machine.waits() == (0, 0)


def test_rows_deleted_by_callers_do_not_come_back_with_the_log(
    machine: Machine, team: PostgresStore
) -> None:
    there = Ledger(team.database)
    gone = work.add_request(there, 1.0, project="", session="s1", prompt="forget me")
    there.delete(REQUESTS, gone, 5000.0)
    machine.session("s1", "forget me")
    machine.sync()
    assert shared(team) == []
    machine.session("s1", "forget me", "and this is new")
    machine.sync()
    assert [row["prompt"] for row in shared(team)] == ["and this is new"]
