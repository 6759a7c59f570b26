"""The ledger on each database: rows, the change feed, projects, work and waves."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest

from holdfast.errors import Conflict, NotFound
from holdfast.ledger import hierarchy, projects, waves, work
from holdfast.ledger.actions import add_action, build_action, make_action_id, post_action
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
from tests.cases import report_case
from tests.contract.databases import Database

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def make_request(
    ledger: Ledger, prompt: str = "add login", session: str = "s1", **more: Any
) -> Row:
    return work.add_request(ledger, 10.0, project="p", session=session, prompt=prompt, **more)


def make_task(ledger: Ledger, name: str, wave: int = 1, session: str = "s1", **more: Any) -> Row:
    request = ledger.find_one(REQUESTS, session=session) or make_request(ledger, session=session)
    return work.add_task(ledger, 11.0, request=request, name=name, wave_number=wave, **more)


def set_status(ledger: Ledger, row: Row, status: str = "completed", now: float = 20.0) -> Row:
    table = TASKS if "wave_number" in row else SUBTASKS
    return work.set_status(ledger, table, row, status, now)


def get_status(ledger: Ledger, row: Row) -> str:
    table = TASKS if "wave_number" in row else SUBTASKS
    return str(ledger.require(table, row["id"])["status"])


# Rows and changes


def test_every_table_has_the_columns_of_its_definition(ledger: Ledger) -> None:
    for name in sorted(ALL_TABLES):
        with report_case(name):
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
    row = projects.ensure_project(
        ledger, "/srv/a", 1.0, name="A", metadata={"deep": [1, {"x": "\0é"}]}
    )
    assert ledger.get(PROJECTS, row["id"]) == row
    assert row["metadata"] == {"deep": [1, {"x": "\0é"}]}


def test_an_unknown_id_is_named_in_the_error(ledger: Ledger) -> None:
    with pytest.raises(NotFound, match="unknown in tasks"):
        ledger.require(TASKS, "unknown")


def test_an_older_version_of_a_row_does_not_replace_a_newer_one(
    ledger: Ledger,
) -> None:
    row = make_request(ledger)
    newer, older = {**row, "status": "completed", "updated_at": 30.0}, {**row, "updated_at": 20.0}
    ledger.write(REQUESTS, newer)
    ledger.write(REQUESTS, older)
    assert ledger.require(REQUESTS, row["id"])["status"] == "completed"


def test_every_change_is_listed_once_and_in_order(ledger: Ledger) -> None:
    row = make_request(ledger)
    ledger.write(REQUESTS, row)
    updated = ledger.update(REQUESTS, row, 11.0, status="completed")
    ledger.update(REQUESTS, updated, 12.0, status="completed")
    ledger.delete(REQUESTS, updated, 13.0)
    changes = ledger.list_changes()
    assert [(change["kind"], change["record"], change["gone"]) for change in changes] == [
        ("requests", row["id"], 0), ("requests", row["id"], 0), ("requests", row["id"], 1),
    ]  # fmt: skip
    assert [change["at"] for change in changes] == [10.0, 11.0, 13.0]
    assert len({change["id"] for change in changes}) == 3
    cursor = (changes[1]["tx"], changes[1]["seq"])
    assert ledger.list_changes(cursor) == changes[2:]
    assert ledger.list_changes(limit=1) == changes[:1]


def test_an_uncommitted_change_is_neither_listed_nor_skipped(
    ledger: Ledger, database: Database
) -> None:
    """Sequence numbers are assigned before the commit, so a slow transaction could be skipped."""
    second = database.ledger()
    with closing(second.database):
        ledger.database.begin()
        make_request(ledger, "slow")
        if ledger.database.dialect == "postgres":
            make_request(second, "quick", session="s2")
        before_commit = second.list_changes()
        ledger.database.commit()
        if ledger.database.dialect == "sqlite":
            # SQLite has one writer at a time, so the second can write only now.
            make_request(second, "quick", session="s2")
        after_commit = second.list_changes()
    assert before_commit == [], "later changes must wait for the open transaction"
    assert sorted(change["session"] for change in after_commit) == ["s1", "s2"]


def test_secrets_are_never_written_to_the_ledger(ledger: Ledger, database: Database) -> None:
    make_request(ledger, f"deploy with {TOKEN}", metadata={"env": {"API_TOKEN": TOKEN}})
    add_action(ledger, 1.0, tool_name="Bash", ident="a", tool_input={"command": f"curl -u {TOKEN}"})
    row = ledger.find(REQUESTS)[0]
    assert row["prompt"].startswith("deploy with [redacted")
    assert TOKEN.encode() not in database.read_raw_bytes()


def test_a_secret_is_redacted_in_every_column() -> None:
    for name in [*ACTIONS.columns[:10], "metadata", "long"]:
        text = f"say {TOKEN} twice " + "word " * (name == "long") * 99
        column = "session" if name == "long" else name
        row = {**build_action(1.0, ident="a", tool_name="Bash"), column: text}
        if column in ACTIONS.json_columns:
            row[column] = {"deep": [text]}
        stored = ACTIONS.encode(row)
        assert TOKEN not in str(stored), name
        assert "[redacted:github-token]" in stored[column], name
        assert {key: value for key, value in ACTIONS.decode(stored).items() if key != column} == {
            key: value for key, value in row.items() if key != column
        }, name


def test_the_value_of_a_field_with_a_secret_name_is_redacted() -> None:
    row = build_action(
        1.0, ident="a", tool_name="Bash", tool_input={"password": "hunter2-xyz", "user": "me"}
    )
    stored = ACTIONS.decode(ACTIONS.encode(row))["input"]
    assert stored == {"password": "[redacted:assignment]", "user": "me"}


def test_writing_a_row_again_adds_no_change_and_every_difference_adds_one(ledger: Ledger) -> None:
    row = build_action(1.0, ident="a", tool_name="Read")
    for _ in range(2):
        ledger.write(ACTIONS, row)
    assert len(ledger.list_changes()) == 1
    for changed in ({"tool_name": "Write"}, {"subtask": "Read"}, {"updated_at": 1.0001}):
        ledger.write(ACTIONS, {**row, **changed})
    assert len(ledger.list_changes()) == 4


def test_pages_of_rows_with_equal_times_have_no_gaps(ledger: Ledger) -> None:
    for number in range(7):
        add_action(ledger, 5.0, tool_name="Read", ident=f"a{number}", session="s1")
    listed: list[str] = []
    before = None
    while page := ledger.find(ACTIONS, limit=3, before=before, session="s1"):
        listed += [row["id"] for row in page]
        before = (page[-1]["created_at"], page[-1]["id"])
    assert listed == [f"a{number}" for number in range(6, -1, -1)]


# Projects


def test_a_project_is_found_from_any_folder_below_it(ledger: Ledger) -> None:
    project = projects.ensure_project(ledger, "/srv/courier/", 1.0)
    assert project["name"] == "courier"
    for path in ("/srv/courier", "/srv/courier/", "/srv/courier/src/deep"):
        assert projects.find_by_path(ledger, path) == project
    for path in ("/srv", "/srv/courier2", "/", "", "/srv/%"):
        with pytest.raises(NotFound):
            projects.find_by_path(ledger, path)


def test_clones_of_one_repository_are_one_project(ledger: Ledger) -> None:
    first = projects.ensure_project(ledger, "/home/ada/x", 1.0, origin="example.org/x")
    second = projects.ensure_project(ledger, "/home/bob/x", 2.0, origin="example.org/x")
    other = projects.ensure_project(ledger, "/home/bob/y", 2.0)
    assert first["id"] == second["id"] != other["id"]
    assert projects.find_by_path(ledger, "/home/bob/x/src")["id"] == first["id"]


# Work from transcripts and from callers


@pytest.mark.parametrize("first", ["transcript", "caller"])
def test_a_request_from_the_transcript_and_from_a_caller_is_one_row(
    ledger: Ledger, first: str
) -> None:
    def from_transcript() -> Row:
        return make_request(ledger, "Add login,\nplease", source="s1:L3")

    def from_caller() -> Row:
        return make_request(ledger, "add login, please")

    for add in (
        (from_transcript, from_caller) if first == "transcript" else (from_caller, from_transcript)
    ):
        add()
    (row,) = ledger.find(REQUESTS)
    assert (row["source"], row["posted"]) == ("s1:L3", 1)
    from_transcript()
    assert len(ledger.find(REQUESTS)) == 1


def test_equal_prompts_on_two_lines_are_two_requests(ledger: Ledger) -> None:
    for line in (3, 9):
        make_request(ledger, "go on", source=f"s1:L{line}")
    for _ in range(2):
        make_request(ledger, "go on")
    make_request(ledger, "go on", session="s10", source="s10:L3")
    assert ledger.count(REQUESTS, session="s1") == 2
    assert ledger.count(REQUESTS, session="s10") == 1


def test_two_machines_give_the_same_request_the_same_id(ledger: Ledger) -> None:
    row = make_request(ledger, "go on", source="s1:L3")
    ledger.delete(REQUESTS, row, 50.0)
    assert make_request(ledger, "go on")["id"] == row["id"]


def test_a_tool_call_that_is_reported_twice_is_one_action(ledger: Ledger) -> None:
    ident = make_action_id("s1", "toolu_1")
    for exit_code in (0, 0):
        add_action(ledger, 5.0, tool_name="Bash", ident=ident, session="s1", exit_code=exit_code)
    assert ledger.count(ACTIONS) == 1
    assert make_action_id("s10", "toolu_1") != ident


def test_a_posted_action_keeps_the_fields_that_it_does_not_set(ledger: Ledger) -> None:
    existing = add_action(
        ledger, 5.0, tool_name="Edit", ident="a1", session="s1", project="p1", duration_ms=9,
        file_paths=["a.py"],
    )  # fmt: skip
    posted = build_action(6.0, tool_name="Edit", ident="a1", session="s1", exit_code=0)
    assert post_action(ledger, posted) == {**existing, "exit_code": 0, "updated_at": 6.0}
    for other in ({"tool_name": "Bash"}, {"session": "s2"}):
        with pytest.raises(Conflict, match="another call, of Edit"):
            post_action(ledger, {**posted, **other})
    # The transcript takes precedence over callers.
    assert add_action(ledger, 7.0, tool_name="Bash", ident="a1")["tool_name"] == "Bash"


def test_a_request_from_the_transcript_sets_the_project_of_an_earlier_posted_one(
    ledger: Ledger,
) -> None:
    posted = work.add_request(ledger, 1.0, project="", session="s1", prompt="Add login")
    imported = work.add_request(
        ledger, 2.0, project="p1", source="1", session="s1", prompt="Add login"
    )
    assert (imported["id"], imported["project"]) == (posted["id"], "p1")


def test_a_caller_can_set_wave_and_status_of_a_task_from_the_transcript(ledger: Ledger) -> None:
    request = make_request(ledger, "Add login")
    imported = work.add_task(ledger, 2.0, request=request, name="Routes", source="1")
    posted = work.add_task(
        ledger, 3.0, request=request, name="Routes", wave_number=3, status="running"
    )
    assert (posted["id"], posted["wave_number"], posted["status"]) == (imported["id"], 3, "running")
    (wave,) = waves.list_waves(ledger, request["session"])
    assert (wave["wave_number"], wave["status"], wave["total_tasks"]) == (3, "running", 1)


def test_the_hierarchy_contains_requests_tasks_and_subtasks_of_a_project(ledger: Ledger) -> None:
    project = projects.ensure_project(ledger, "/srv/a", 1.0)
    for session in ("s1", "s2"):
        request = work.add_request(
            ledger, 2.0, project=project["id"], session=session, prompt=f"work of {session}"
        )
        task = work.add_task(ledger, 3.0, request=request, name="Backend", wave_number=1)
        work.add_subtask(ledger, 4.0, task=task, description="model", agent_type="dev")
    make_request(ledger, "in another project")
    tree = hierarchy.build_hierarchy(ledger, project["id"])
    assert tree["project"] == project
    assert [request["prompt"] for request in tree["requests"]] == ["work of s1", "work of s2"]
    for request in tree["requests"]:
        (task,) = request["tasks"]
        (subtask,) = task["subtasks"]
        assert (task["name"], subtask["session"]) == ("Backend", request["session"])


# Status changes


def test_a_subtask_is_blocked_until_all_its_blockers_are_completed(ledger: Ledger) -> None:
    task = make_task(ledger, "Backend")
    first, second = (work.add_subtask(ledger, 12.0, task=task, description=name) for name in "ab")
    last = work.add_subtask(
        ledger, 12.0, task=task, description="c", blocked_by=[first["id"], second["id"]]
    )
    assert last["status"] == "blocked"
    set_status(ledger, first)
    assert get_status(ledger, last) == "blocked"
    set_status(ledger, second)
    assert get_status(ledger, last) == "pending"


def test_a_failed_subtask_unblocks_nothing(ledger: Ledger) -> None:
    task = make_task(ledger, "Backend")
    first = work.add_subtask(ledger, 12.0, task=task, description="a")
    last = work.add_subtask(ledger, 12.0, task=task, description="b", blocked_by=[first["id"]])
    set_status(ledger, first, "failed")
    assert get_status(ledger, last) == "blocked"


def test_a_task_is_completed_when_its_subtasks_are(ledger: Ledger) -> None:
    task = make_task(ledger, "Backend")
    first, second = (work.add_subtask(ledger, 12.0, task=task, description=name) for name in "ab")
    set_status(ledger, first, "running")
    assert get_status(ledger, task) == "running"
    set_status(ledger, first)
    assert get_status(ledger, task) == "running"
    set_status(ledger, second)
    assert get_status(ledger, task) == "completed"
    request = ledger.require(REQUESTS, task["request"])
    assert (request["status"], request["completed_at"]) == ("completed", 20.0)


def test_the_hosts_status_of_a_task_takes_precedence(ledger: Ledger) -> None:
    task = make_task(ledger, "Backend", source="s1:plan:1")
    work.set_status(ledger, TASKS, task, "running", 12.0, folded="running")
    set_status(ledger, work.add_subtask(ledger, 12.0, task=task, description="a"))
    assert get_status(ledger, task) == "running"


def test_a_wave_completes_with_its_tasks_and_the_next_one_starts(ledger: Ledger) -> None:
    first = [make_task(ledger, name, 0) for name in ("schema", "migrations")]
    second = make_task(ledger, "backend", 1)
    make_task(ledger, "frontend", 2)
    make_task(ledger, "not in a wave", NO_WAVE)
    assert [wave["total_tasks"] for wave in waves.list_waves(ledger, "s1")] == [2, 1, 1]
    waves.start_wave(ledger, "s1", None, 12.0)
    set_status(ledger, first[0])
    assert waves.find_current_wave(ledger, "s1")["wave_number"] == 0  # type: ignore[index]
    set_status(ledger, first[1])
    statuses = [wave["status"] for wave in waves.list_waves(ledger, "s1")]
    assert statuses == ["completed", "running", "pending"]
    set_status(ledger, second, "failed")
    statuses = [wave["status"] for wave in waves.list_waves(ledger, "s1")]
    assert statuses == ["completed", "failed", "pending"], (
        "a failed wave must not start the next one"
    )


def test_a_wave_with_open_tasks_is_ended_only_with_force(ledger: Ledger) -> None:
    make_task(ledger, "backend", 1)
    make_task(ledger, "frontend", 2)
    waves.start_wave(ledger, "s1", 1, 12.0)
    with pytest.raises(Conflict, match=r"Wave 1 has open tasks \(1\)"):
        waves.transition_wave(ledger, "s1", 13.0)
    next_wave = waves.transition_wave(ledger, "s1", 13.0, force=True)
    assert next_wave is not None
    assert (next_wave["wave_number"], next_wave["status"]) == (2, "running")
    assert waves.transition_wave(ledger, "s1", 14.0, force=True) is None


def test_each_session_has_its_own_waves(ledger: Ledger) -> None:
    make_task(ledger, "backend", 1)
    set_status(ledger, make_task(ledger, "backend", 1, session="s10"))
    assert [wave["status"] for wave in waves.list_waves(ledger, "s1")] == ["pending"]
    assert [wave["status"] for wave in waves.list_waves(ledger, "s10")] == ["completed"]
    assert waves.list_waves(ledger, "s") == []
    with pytest.raises(NotFound):
        waves.start_wave(ledger, "s", None, 1.0)
    assert waves.create_wave(ledger, "s1", None, 1.0)["wave_number"] == 2
    assert waves.create_wave(ledger, "new", None, 1.0)["wave_number"] == 0


# Concurrency


def test_equal_concurrent_requests_are_all_added(database: Database) -> None:
    database.ledger().database.close()

    def add(_: int) -> str:
        ledger = database.ledger()
        with closing(ledger.database):
            return str(make_request(ledger, "go on")["id"])

    with ThreadPoolExecutor(6) as pool:
        ids = list(pool.map(add, range(12)))
    assert len(set(ids)) == 12
    ledger = database.ledger()
    with closing(ledger.database):
        assert {row["id"] for row in ledger.find(REQUESTS)} == set(ids)


def test_a_wave_whose_tasks_end_concurrently_is_completed_once(database: Database) -> None:
    ledger = database.ledger()
    tasks = [make_task(ledger, f"task {number}", 1) for number in range(6)]
    make_task(ledger, "later", 2)

    def complete(row: Row) -> None:
        own_ledger = database.ledger()
        with closing(own_ledger.database):
            set_status(own_ledger, row)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(complete, tasks))
    with closing(ledger.database):
        first, second = waves.list_waves(ledger, "s1")
    assert (first["status"], first["completed_tasks"]) == ("completed", 6)
    assert second["status"] == "running"


def test_another_repository_in_the_same_folder_is_another_project(ledger: Ledger) -> None:
    first = projects.ensure_project(ledger, "/w", 1.0, origin="acme/payroll")
    assert projects.ensure_project(ledger, "/w", 2.0, origin="acme/payroll") == first
    assert projects.ensure_project(ledger, "/w", 3.0) == first, (
        "a call without an origin means the project of the folder"
    )
    second = projects.ensure_project(ledger, "/w", 4.0, origin="acme/website")
    assert second["id"] != first["id"]
    assert projects.find_by_path(ledger, "/w/src") == second
    assert projects.find_project_id(ledger, "/elsewhere", "acme/payroll") == first["id"]


def test_a_named_project_keeps_its_id_when_its_origin_is_added(ledger: Ledger) -> None:
    named = projects.ensure_project(ledger, "/w", 1.0, name="Payroll")
    assert projects.ensure_project(ledger, "/w", 2.0, origin="acme/payroll")["id"] == named["id"]
