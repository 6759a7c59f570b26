"""What the ledger must do on every database: one tree, nothing doubled, nothing mixed up."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest

from holdfast.errors import Conflict, NotFound
from holdfast.ledger import hierarchy, projects, waves, work
from holdfast.ledger.actions import action_id, add_action, build_action, post_action
from holdfast.ledger.repository import Ledger, Row
from holdfast.ledger.schema import (
    ACTIONS,
    ALL_TABLES,
    NO_WAVE,
    PROJECTS,
    REQUESTS,
    SUBTASKS,
    TASKS,
)
from tests.cases import case
from tests.contract.databases import Database

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def a_request(ledger: Ledger, prompt: str = "add login", session: str = "s1", **more: Any) -> Row:
    return work.add_request(ledger, 10.0, project="p", session=session, prompt=prompt, **more)


def a_task(ledger: Ledger, name: str, wave: int = 1, session: str = "s1", **more: Any) -> Row:
    request = ledger.find_one(REQUESTS, session=session) or a_request(ledger, session=session)
    return work.add_task(ledger, 11.0, request=request, name=name, wave_number=wave, **more)


def done(ledger: Ledger, row: Row, status: str = "completed", now: float = 20.0) -> Row:
    table = TASKS if "wave_number" in row else SUBTASKS
    return work.set_status(ledger, table, row, status, now)


def status(ledger: Ledger, row: Row) -> str:
    table = TASKS if "wave_number" in row else SUBTASKS
    return str(ledger.require(table, row["id"])["status"])


# Rows and changes


def test_every_table_has_exactly_the_columns_that_are_read_and_written(ledger: Ledger) -> None:
    for name in sorted(ALL_TABLES):
        with case(name):
            table = ALL_TABLES[name]
            values = {"limit": 1}
            assert ledger.database.run(f"SELECT * FROM {name} LIMIT :limit", values)[0] == []
            ledger.database.run(
                f"SELECT {', '.join(table.columns)} FROM {name} LIMIT :limit", values
            )
            assert table.columns[0] == "id"
            assert table.order_column in table.columns
            assert table.json_columns <= set(table.columns)


def test_a_row_reads_back_as_it_was_written(ledger: Ledger) -> None:
    made = projects.ensure_project(
        ledger, "/srv/a", 1.0, name="A", metadata={"deep": [1, {"x": "\0é"}]}
    )
    assert ledger.get(PROJECTS, made["id"]) == made
    assert made["metadata"] == {"deep": [1, {"x": "\0é"}]}


def test_an_unknown_id_is_named_in_the_error(ledger: Ledger) -> None:
    with pytest.raises(NotFound, match="nobody in tasks"):
        ledger.require(TASKS, "nobody")


def test_of_two_versions_of_a_row_the_newer_stays_in_whatever_order_they_come(
    ledger: Ledger,
) -> None:
    row = a_request(ledger)
    newer, older = {**row, "status": "completed", "updated_at": 30.0}, {**row, "updated_at": 20.0}
    ledger.write(REQUESTS, newer)
    ledger.write(REQUESTS, older)
    assert ledger.require(REQUESTS, row["id"])["status"] == "completed"


def test_every_change_is_told_once_in_order(ledger: Ledger) -> None:
    made = a_request(ledger)
    ledger.write(REQUESTS, made)
    moved = ledger.update(REQUESTS, made, 11.0, status="completed")
    ledger.update(REQUESTS, moved, 12.0, status="completed")
    ledger.delete(REQUESTS, moved, 13.0)
    told = ledger.list_changes()
    assert [(one["kind"], one["record"], one["gone"]) for one in told] == [
        ("requests", made["id"], 0), ("requests", made["id"], 0), ("requests", made["id"], 1),
    ]  # fmt: skip
    assert [one["at"] for one in told] == [10.0, 11.0, 13.0]
    assert len({one["id"] for one in told}) == 3
    last = told[1]
    assert ledger.list_changes((last["tx"], last["seq"])) == told[2:]
    assert ledger.list_changes(limit=1) == told[:1]


def test_a_change_that_is_not_committed_is_not_told_and_not_passed_over(
    ledger: Ledger, database: Database
) -> None:
    """Numbers are given before a commit: what is slow must not be overtaken for ever."""
    second = database.ledger()
    with closing(second.database):
        ledger.database.begin()
        a_request(ledger, "slow")
        if ledger.database.dialect == "postgres":
            a_request(second, "quick", session="s2")
        seen = [one["session"] for one in second.list_changes()]
        ledger.database.commit()
        if ledger.database.dialect == "sqlite":
            # A file has one writer at a time: the second had to wait.
            a_request(second, "quick", session="s2")
        told = second.list_changes()
    assert seen == [], "what comes after an open transaction waits for it"
    assert sorted(one["session"] for one in told) == ["s1", "s2"]


def test_secrets_do_not_reach_the_ledger(ledger: Ledger, database: Database) -> None:
    a_request(ledger, f"deploy with {TOKEN}", metadata={"env": {"API_TOKEN": TOKEN}})
    add_action(ledger, 1.0, tool_name="Bash", ident="a", tool_input={"command": f"curl -u {TOKEN}"})
    row = ledger.find(REQUESTS)[0]
    assert row["prompt"].startswith("deploy with [redacted")
    assert TOKEN.encode() not in database.raw()


def test_a_secret_is_found_in_whichever_column_it_is() -> None:
    for name in [*ACTIONS.columns[:10], "metadata", "long"]:
        words = f"say {TOKEN} twice " + "word " * (name == "long") * 99
        where = "session" if name == "long" else name
        row = {**build_action(1.0, ident="a", tool_name="Bash"), where: words}
        if where in ACTIONS.json_columns:
            row[where] = {"deep": [words]}
        stored = ACTIONS.encode(row)
        assert TOKEN not in str(stored), name
        assert "[redacted:github-token]" in stored[where], name
        assert {key: value for key, value in ACTIONS.decode(stored).items() if key != where} == {
            key: value for key, value in row.items() if key != where
        }, name


def test_a_value_under_a_secret_name_is_not_stored() -> None:
    row = build_action(
        1.0, ident="a", tool_name="Bash", tool_input={"password": "hunter2-xyz", "user": "me"}
    )
    found = ACTIONS.decode(ACTIONS.encode(row))["input"]
    assert found == {"password": "[redacted:assignment]", "user": "me"}


def test_the_same_row_is_told_once_and_every_other_by_another_name(ledger: Ledger) -> None:
    row = build_action(1.0, ident="a", tool_name="Read")
    for _ in range(2):
        ledger.write(ACTIONS, row)
    assert len(ledger.list_changes()) == 1
    for more in ({"tool_name": "Write"}, {"subtask": "Read"}, {"updated_at": 1.0001}):
        ledger.write(ACTIONS, {**row, **more})
    assert len(ledger.list_changes()) == 4


def test_pages_follow_each_other_without_gaps_though_times_are_equal(ledger: Ledger) -> None:
    for number in range(7):
        add_action(ledger, 5.0, tool_name="Read", ident=f"a{number}", session="s1")
    seen: list[str] = []
    before = None
    while page := ledger.find(ACTIONS, limit=3, before=before, session="s1"):
        seen += [row["id"] for row in page]
        before = (page[-1]["created_at"], page[-1]["id"])
    assert seen == [f"a{number}" for number in range(6, -1, -1)]


# Projects


def test_a_project_is_found_from_any_folder_below_it(ledger: Ledger) -> None:
    made = projects.ensure_project(ledger, "/srv/courier/", 1.0)
    assert made["name"] == "courier"
    for path in ("/srv/courier", "/srv/courier/", "/srv/courier/src/deep"):
        assert projects.find_by_path(ledger, path) == made
    for path in ("/srv", "/srv/courier2", "/", "", "/srv/%"):
        with pytest.raises(NotFound):
            projects.find_by_path(ledger, path)


def test_clones_of_one_repository_are_one_project(ledger: Ledger) -> None:
    here = projects.ensure_project(ledger, "/home/ada/x", 1.0, origin="example.org/x")
    there = projects.ensure_project(ledger, "/home/bob/x", 2.0, origin="example.org/x")
    other = projects.ensure_project(ledger, "/home/bob/y", 2.0)
    assert here["id"] == there["id"] != other["id"]
    assert projects.find_by_path(ledger, "/home/bob/x/src")["id"] == here["id"]


# The fold and callers in one tree


@pytest.mark.parametrize("first", ["fold", "caller"])
def test_what_the_fold_finds_and_what_a_caller_says_are_one_row(ledger: Ledger, first: str) -> None:
    def from_fold() -> Row:
        return a_request(ledger, "Add login,\nplease", source="s1:L3")

    def from_caller() -> Row:
        return a_request(ledger, "add login, please")

    for make in (from_fold, from_caller) if first == "fold" else (from_caller, from_fold):
        make()
    (row,) = ledger.find(REQUESTS)
    assert (row["source"], row["posted"]) == ("s1:L3", 1)
    from_fold()
    assert len(ledger.find(REQUESTS)) == 1


def test_the_same_words_said_twice_are_two_requests(ledger: Ledger) -> None:
    for line in (3, 9):
        a_request(ledger, "go on", source=f"s1:L{line}")
    for _ in range(2):
        a_request(ledger, "go on")
    a_request(ledger, "go on", session="s10", source="s10:L3")
    assert ledger.count(REQUESTS, session="s1") == 2
    assert ledger.count(REQUESTS, session="s10") == 1


def test_two_machines_give_the_same_thing_the_same_id(ledger: Ledger) -> None:
    mine = a_request(ledger, "go on", source="s1:L3")
    ledger.delete(REQUESTS, mine, 50.0)
    assert a_request(ledger, "go on")["id"] == mine["id"]


def test_an_action_is_one_row_whoever_reports_the_call(ledger: Ledger) -> None:
    ident = action_id("s1", "toolu_1")
    for exit_code in (0, 0):
        add_action(ledger, 5.0, tool_name="Bash", ident=ident, session="s1", exit_code=exit_code)
    assert ledger.count(ACTIONS) == 1
    assert action_id("s10", "toolu_1") != ident


def test_what_a_caller_does_not_say_of_a_call_stays_as_it_was(ledger: Ledger) -> None:
    found = add_action(
        ledger, 5.0, tool_name="Edit", ident="a1", session="s1", project="p1", duration_ms=9,
        file_paths=["a.py"],
    )  # fmt: skip
    said = build_action(6.0, tool_name="Edit", ident="a1", session="s1", exit_code=0)
    assert post_action(ledger, said) == {**found, "exit_code": 0, "updated_at": 6.0}
    for other in ({"tool_name": "Bash"}, {"session": "s2"}):
        with pytest.raises(Conflict, match="another call, of Edit"):
            post_action(ledger, {**said, **other})
    # The log is what counts.
    assert add_action(ledger, 7.0, tool_name="Bash", ident="a1")["tool_name"] == "Bash"


def test_what_the_fold_finds_in_a_project_is_the_project_s_though_a_caller_was_first(
    ledger: Ledger,
) -> None:
    posted = work.add_request(ledger, 1.0, project="", session="s1", prompt="Add login")
    told = {"session": "s1", "prompt": "Add login"}
    found = work.add_request(ledger, 2.0, project="p1", source="1", **told)
    assert (found["id"], found["project"]) == (posted["id"], "p1")


def test_what_a_caller_says_of_a_task_that_was_found_counts(ledger: Ledger) -> None:
    request = a_request(ledger, "Add login")
    found = work.add_task(ledger, 2.0, request=request, name="Routes", source="1")
    told = work.add_task(
        ledger, 3.0, request=request, name="Routes", wave_number=3, status="running"
    )
    assert (told["id"], told["wave_number"], told["status"]) == (found["id"], 3, "running")
    (wave,) = waves.list_waves(ledger, request["session"])
    assert (wave["wave_number"], wave["status"], wave["total_tasks"]) == (3, "running", 1)


def test_the_tree_has_everything_in_its_place(ledger: Ledger) -> None:
    project = projects.ensure_project(ledger, "/srv/a", 1.0)
    for session in ("s1", "s2"):
        request = work.add_request(
            ledger, 2.0, project=project["id"], session=session, prompt=f"work of {session}"
        )
        task = work.add_task(ledger, 3.0, request=request, name="Backend", wave_number=1)
        work.add_subtask(ledger, 4.0, task=task, description="model", agent_type="dev")
    a_request(ledger, "another project's")
    found = hierarchy.build_hierarchy(ledger, project["id"])
    assert found["project"] == project
    assert [one["prompt"] for one in found["requests"]] == ["work of s1", "work of s2"]
    for one in found["requests"]:
        (task,) = one["tasks"]
        (subtask,) = task["subtasks"]
        assert (task["name"], subtask["session"]) == ("Backend", one["session"])


# Moving on


def test_a_subtask_waits_for_all_that_block_it(ledger: Ledger) -> None:
    task = a_task(ledger, "Backend")
    one, two = (work.add_subtask(ledger, 12.0, task=task, description=name) for name in "ab")
    last = work.add_subtask(
        ledger, 12.0, task=task, description="c", blocked_by=[one["id"], two["id"]]
    )
    assert last["status"] == "blocked"
    done(ledger, one)
    assert status(ledger, last) == "blocked"
    done(ledger, two)
    assert status(ledger, last) == "pending"


def test_what_failed_unblocks_nothing(ledger: Ledger) -> None:
    task = a_task(ledger, "Backend")
    one = work.add_subtask(ledger, 12.0, task=task, description="a")
    last = work.add_subtask(ledger, 12.0, task=task, description="b", blocked_by=[one["id"]])
    done(ledger, one, "failed")
    assert status(ledger, last) == "blocked"


def test_a_task_is_done_when_its_subtasks_are(ledger: Ledger) -> None:
    task = a_task(ledger, "Backend")
    one, two = (work.add_subtask(ledger, 12.0, task=task, description=name) for name in "ab")
    done(ledger, one, "running")
    assert status(ledger, task) == "running"
    done(ledger, one)
    assert status(ledger, task) == "running"
    done(ledger, two)
    assert status(ledger, task) == "completed"
    request = ledger.require(REQUESTS, task["request"])
    assert (request["status"], request["completed_at"]) == ("completed", 20.0)


def test_where_the_host_keeps_the_status_it_decides(ledger: Ledger) -> None:
    task = a_task(ledger, "Backend", source="s1:plan:1")
    work.set_status(ledger, TASKS, task, "running", 12.0, folded="running")
    done(ledger, work.add_subtask(ledger, 12.0, task=task, description="a"))
    assert status(ledger, task) == "running"


def test_a_wave_completes_with_its_tasks_and_the_next_one_starts(ledger: Ledger) -> None:
    first = [a_task(ledger, name, 0) for name in ("schema", "migrations")]
    second = a_task(ledger, "backend", 1)
    a_task(ledger, "frontend", 2)
    a_task(ledger, "not in a wave", NO_WAVE)
    assert [one["total_tasks"] for one in waves.list_waves(ledger, "s1")] == [2, 1, 1]
    waves.start_wave(ledger, "s1", None, 12.0)
    done(ledger, first[0])
    assert waves.find_current_wave(ledger, "s1")["wave_number"] == 0  # type: ignore[index]
    done(ledger, first[1])
    statuses = [one["status"] for one in waves.list_waves(ledger, "s1")]
    assert statuses == ["completed", "running", "pending"]
    done(ledger, second, "failed")
    statuses = [one["status"] for one in waves.list_waves(ledger, "s1")]
    assert statuses == ["completed", "failed", "pending"], "a failed wave starts nothing"


def test_a_wave_with_open_tasks_is_left_only_by_force(ledger: Ledger) -> None:
    a_task(ledger, "backend", 1)
    a_task(ledger, "frontend", 2)
    waves.start_wave(ledger, "s1", 1, 12.0)
    with pytest.raises(Conflict, match=r"Wave 1 has open tasks \(1\)"):
        waves.transition_wave(ledger, "s1", 13.0)
    begun = waves.transition_wave(ledger, "s1", 13.0, force=True)
    assert begun is not None
    assert (begun["wave_number"], begun["status"]) == (2, "running")
    assert waves.transition_wave(ledger, "s1", 14.0, force=True) is None


def test_waves_of_another_session_are_another_s(ledger: Ledger) -> None:
    a_task(ledger, "backend", 1)
    done(ledger, a_task(ledger, "backend", 1, session="s10"))
    assert [one["status"] for one in waves.list_waves(ledger, "s1")] == ["pending"]
    assert [one["status"] for one in waves.list_waves(ledger, "s10")] == ["completed"]
    assert waves.list_waves(ledger, "s") == []
    with pytest.raises(NotFound):
        waves.start_wave(ledger, "s", None, 1.0)
    assert waves.create_wave(ledger, "s1", None, 1.0)["wave_number"] == 2
    assert waves.create_wave(ledger, "new", None, 1.0)["wave_number"] == 0


# Many at once


def test_callers_who_say_the_same_at_once_are_all_heard(database: Database) -> None:
    database.ledger().database.close()

    def say(_: int) -> str:
        ledger = database.ledger()
        with closing(ledger.database):
            return str(a_request(ledger, "go on")["id"])

    with ThreadPoolExecutor(6) as callers:
        made = list(callers.map(say, range(12)))
    assert len(set(made)) == 12
    ledger = database.ledger()
    with closing(ledger.database):
        assert {row["id"] for row in ledger.find(REQUESTS)} == set(made)


def test_a_wave_whose_tasks_end_at_once_ends_once(database: Database) -> None:
    ledger = database.ledger()
    made = [a_task(ledger, f"task {number}", 1) for number in range(6)]
    a_task(ledger, "later", 2)

    def end(row: Row) -> None:
        mine = database.ledger()
        with closing(mine.database):
            done(mine, row)

    with ThreadPoolExecutor(6) as workers:
        list(workers.map(end, made))
    with closing(ledger.database):
        first, second = waves.list_waves(ledger, "s1")
    assert (first["status"], first["completed_tasks"]) == ("completed", 6)
    assert second["status"] == "running"


def test_another_repository_in_the_same_folder_is_another_project(ledger: Ledger) -> None:
    first = projects.ensure_project(ledger, "/w", 1.0, origin="acme/payroll")
    assert projects.ensure_project(ledger, "/w", 2.0, origin="acme/payroll") == first
    assert projects.ensure_project(ledger, "/w", 3.0) == first, (
        "who does not know its origin means it"
    )
    second = projects.ensure_project(ledger, "/w", 4.0, origin="acme/website")
    assert second["id"] != first["id"]
    assert projects.find_by_path(ledger, "/w/src") == second
    assert projects.project_id(ledger, "/elsewhere", "acme/payroll") == first["id"]


def test_a_folder_that_somebody_has_named_stays_its_project(ledger: Ledger) -> None:
    named = projects.ensure_project(ledger, "/w", 1.0, name="Payroll")
    assert projects.ensure_project(ledger, "/w", 2.0, origin="acme/payroll")["id"] == named["id"]
