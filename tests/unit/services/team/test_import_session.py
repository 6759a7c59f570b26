"""Prompts, plan, sub-agents and tool calls of a session are imported into the ledger once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast.hosts.hook_event import HookEvent
from holdfast.ledger import hierarchy, projects, status, work
from holdfast.ledger.actions import build_action, make_action_id, post_action
from holdfast.ledger.repository import Ledger, Row
from holdfast.ledger.schema import ACTIONS, AGENTS, NO_WAVE, REQUESTS, SUBTASKS, TASKS
from holdfast.services.compaction.ingest import ingest_transcript
from holdfast.services.projects import find_origin
from holdfast.services.team.import_session import import_all_sessions
from holdfast.store import sqlite_migrations
from holdfast.store.sqlite import SQLiteDatabase, SQLiteStore
from tests.unit import rollout_lines as codex
from tests.unit.transcript_lines import Line, boundary, call, raw, result, usage_line, user

PLAN = ("Wave 1: schema", "Wave 2: routes")


class Session:
    """A session whose transcript grows, with its store and ledger."""

    def __init__(self, folder: Path) -> None:
        self.transcript = folder / "s1.jsonl"
        self.project = folder / "app"
        self.project.mkdir()
        self.store = SQLiteStore(str(folder / "home" / "holdfast.db"))
        path = str(folder / "home" / "ledger.db")
        self.ledger = Ledger(SQLiteDatabase(path, migrations=sqlite_migrations.LEDGER_MIGRATIONS))
        self.now = 1_790_000_000.0

    def write(self, *lines: Line) -> int:
        """Append lines, ingest and import them; return the number of sessions that changed."""
        append(self.transcript, *lines)
        self.ingest()
        return import_all_sessions(self.store, self.ledger, self.now)

    def ingest(self) -> None:
        self.now += 10
        event = HookEvent(
            host="claude-code", name="Stop", session_id="s1",
            transcript_path=str(self.transcript), cwd=str(self.project),
        )  # fmt: skip
        ingest_transcript(self.store, event, self.now)
        self.store.commit()

    def write_agent(self, *lines: Line) -> None:
        """Append lines to the separate log of a sub-agent, as newer hosts do."""
        log = self.transcript.with_suffix("") / "subagents" / "agent-a91b.jsonl"
        log.parent.mkdir(parents=True, exist_ok=True)
        append(log, *({**line, "isSidechain": True, "agentId": "a91b"} for line in lines))

    def actions(self) -> list[tuple[str, str]]:
        """Return the tool and the subtask of each action, oldest first."""
        rows = self.ledger.find(ACTIONS, newest_first=False)
        descriptions = {row["id"]: row["description"] for row in self.ledger.find(SUBTASKS)}
        return [(row["tool_name"], descriptions.get(row["subtask"], "")) for row in rows]

    def requests(self) -> list[Row]:
        """Return the requests of the project with their tasks and subtasks."""
        project = projects.find_by_path(self.ledger, str(self.project))
        requests: list[Row] = hierarchy.build_hierarchy(self.ledger, project["id"])["requests"]
        return requests


def append(file: Path, *lines: Line) -> None:
    with file.open("ab") as stream:
        stream.writelines(raw(line) + b"\n" for line in lines)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    session = Session(tmp_path)
    with closing(session.store), closing(session.ledger.database):
        yield session


def plan(*new_statuses: str, ident: str = "toolu_plan") -> list[Line]:
    todos = [
        {"content": text, "status": status}
        for text, status in zip(PLAN, new_statuses, strict=False)
    ]
    return [call("TodoWrite", {"todos": todos}, ident), result(call_id=ident)]


def statuses(rows: list[Row], column: str = "name") -> list[tuple[Any, ...]]:
    return [(row[column], row["status"]) for row in rows]


def test_prompts_plan_and_agents_become_requests_tasks_and_subtasks(session: Session) -> None:
    arguments = {"subagent_type": "Explore", "description": "Find callers", "prompt": "Find them"}
    session.write(
        user("add login"), *plan("in_progress", "pending"), call("Task", arguments, "toolu_agent")
    )
    (request,) = session.requests()
    assert (request["prompt"], request["status"]) == ("add login", "active")
    assert statuses(request["tasks"]) == [(PLAN[0], "running"), (PLAN[1], "pending")]
    assert [task["wave_number"] for task in request["tasks"]] == [1, 2]
    (subtask,) = request["tasks"][0]["subtasks"]
    assert (subtask["agent_type"], subtask["description"]) == ("Explore", "Find callers")
    assert subtask["status"] == "running"
    session.write(result("Two callers.", call_id="toolu_agent"), *plan("completed", "in_progress"))
    (request,) = session.requests()
    assert statuses(request["tasks"]) == [(PLAN[0], "completed"), (PLAN[1], "running")]
    (subtask,) = request["tasks"][0]["subtasks"]
    assert (subtask["status"], subtask["result"]) == ("completed", {"text": "Two callers."})


def test_importing_a_session_twice_changes_nothing(session: Session) -> None:
    session.write(user("add login"), *plan("in_progress"), usage_line(50_000))
    before = session.ledger.list_changes(limit=1000)
    assert session.write() == 0
    # Even if the progress is lost, the same rows are found.
    session.ledger.save_progress("s1", {})
    assert import_all_sessions(session.store, session.ledger, session.now) == 1
    assert session.ledger.list_changes(limit=1000) == before


def test_an_agent_outside_the_plan_gets_an_unplanned_task(session: Session) -> None:
    arguments = {"subagent_type": "Explore", "description": "Look around"}
    session.write(user("add login"), call("Task", arguments, "toolu_agent"))
    (request,) = session.requests()
    assert statuses(request["tasks"]) == [("Work outside the plan", "running")]
    session.write(result("Nothing there.", call_id="toolu_agent"))
    assert statuses(session.requests()[0]["tasks"]) == [("Work outside the plan", "completed")]


def test_tasks_missing_from_a_new_plan_are_cancelled(session: Session) -> None:
    session.write(user("add login"), *plan("pending", "pending"))
    session.write(*plan("pending", ident="toolu_again"))
    assert statuses(session.requests()[0]["tasks"]) == [
        (PLAN[0], "pending"),
        (PLAN[1], "cancelled"),
    ]


def test_tool_calls_become_actions_of_their_session(session: Session) -> None:
    started, finished = "2026-01-05T10:00:00.000Z", "2026-01-05T10:00:01.500Z"
    session.write(
        user("add login"),
        call(
            "Write", {"file_path": "/srv/a.py", "content": "x" * 9000}, "toolu_1", timestamp=started
        ),
        result(call_id="toolu_1", timestamp=finished),
        call("Bash", {"command": "make test"}, "toolu_2"),
    )
    (row,) = session.ledger.find(ACTIONS, session="s1")
    assert row["id"] == make_action_id("s1", "toolu_1")
    assert (row["tool_name"], row["file_paths"], row["exit_code"]) == ("Write", ["/srv/a.py"], 0)
    assert (row["duration_ms"], row["created_at"]) == (1500, 1_767_607_200.0)
    assert row["input"] == {"file_path": "/srv/a.py"}, "large inputs stay in the transcript"
    session.write(result("1 failed", ok=False, call_id="toolu_2"))
    bash = session.ledger.require(ACTIONS, make_action_id("s1", "toolu_2"))
    assert (bash["exit_code"], bash["input"]) == (1, {"command": "make test"})
    assert session.ledger.count(ACTIONS) == 2


def test_rows_that_a_client_posted_first_are_not_duplicated(session: Session) -> None:
    project = projects.ensure_project(session.ledger, str(session.project), 1.0)
    request = work.add_request(
        session.ledger, 2.0, project=project["id"], session="s1", prompt="Add login"
    )
    task = work.add_task(session.ledger, 3.0, request=request, name=PLAN[0], wave_number=1)
    work.set_status(session.ledger, TASKS, task, "completed", 4.0)
    session.write(user("add login"), *plan("pending", "pending"))
    (imported,) = session.requests()
    assert imported["id"] == request["id"]
    assert statuses(imported["tasks"]) == [(PLAN[0], "completed"), (PLAN[1], "pending")]
    session.write(*plan("in_progress", "pending", ident="toolu_2"))
    assert statuses(session.requests()[0]["tasks"])[0] == (PLAN[0], "running"), (
        "a change by the host replaces the posted status"
    )


def test_a_status_that_a_client_set_stays_until_the_session_changes_it(session: Session) -> None:
    session.write(user("add login"), *plan("in_progress", "pending"))
    task = session.requests()[0]["tasks"][0]
    work.set_status(session.ledger, TASKS, task, "blocked", session.now)
    session.write(user("and logout"))
    assert session.requests()[0]["tasks"][0]["status"] == "blocked"
    assert [row["status"] for row in session.requests()] == ["completed", "active"]


def test_the_session_itself_is_an_agent_with_a_context_window(session: Session) -> None:
    session.write(user("add login"), usage_line(50_000))
    (row,) = session.ledger.find(AGENTS)
    assert (row["agent_id"], row["agent_type"], row["used"]) == ("s1", "main", 50_000)


def test_a_codex_session_is_imported_too(session: Session) -> None:
    spawn_call = codex.call(
        "spawn_agent", {"task_name": "look", "message": "Look around."}, "call_3"
    )
    launch = codex.output('{"agent_id": "/root/look"}', "call_3")
    session.write(
        codex.meta(), codex.turn(), codex.prompt("add login"), codex.plan(schema="in_progress"),
        codex.output("Plan updated"),
        *codex.exec_command("make test", code=2, call_id="call_2"), spawn_call, launch,
        *codex.apply_patch(
            "*** Add File: new.py", "+x = 1", "*** Delete File: old.py", call_id="call_4"
        ),
    )  # fmt: skip
    (request,) = session.requests()
    assert request["prompt"] == "add login"
    (task,) = request["tasks"]
    assert (task["name"], task["status"]) == ("schema", "running")
    assert [subtask["agent_type"] or subtask["description"] for subtask in task["subtasks"]] == [
        "look"
    ]
    calls = {row["tool_name"]: row for row in session.ledger.find(ACTIONS)}
    assert calls["Bash"]["exit_code"] == 1
    assert calls["apply_patch"]["file_paths"] == ["new.py", "old.py"]


def test_a_compaction_has_the_time_that_a_hook_recorded(session: Session) -> None:
    session.write(user("add login"))
    session.store.open_compaction("s1", 1, trigger="auto", snapshot=None, now=session.now)
    session.write(boundary(trigger="auto", preTokens=9), usage_line(5000))
    (main,) = session.ledger.find(AGENTS)
    assert (main["compactions"], main["compacted_at"]) == (1, session.now - 10)
    session.write(boundary(trigger="auto", preTokens=9), usage_line(5000))
    (main,) = session.ledger.find(AGENTS)
    assert (main["compactions"], main["compacted_at"]) == (2, session.now), (
        "without a hook the time is that of the import"
    )


def test_an_ended_session_has_no_open_requests(session: Session) -> None:
    session.write(user("add login"))
    session.store.end_session("s1", session.now)
    assert import_all_sessions(session.store, session.ledger, session.now) == 1
    assert [row["status"] for row in session.ledger.find(REQUESTS)] == ["completed"]


@pytest.mark.parametrize(("url", "origin"), [
    ("git@example.org:team/app.git", "example.org/team/app"),
    ("https://ada:secret@Example.org/team/app.git", "example.org/team/app"),
    ("ssh://git@example.org/team/app", "example.org/team/app"),
    ("/srv/git/app.git", ""),
    ("file:///srv/git/app.git", ""),
])  # fmt: skip
def test_the_origin_is_normalised_without_credentials(
    tmp_path: Path, url: str, origin: str
) -> None:
    (tmp_path / ".git").mkdir()
    config = f'[core]\n\tbare = false\n[remote "origin"]\n\turl = {url}\n[branch "main"]\n'
    (tmp_path / ".git" / "config").write_text(config)
    assert find_origin(str(tmp_path)) == origin


def test_a_folder_without_a_remote_has_no_origin(tmp_path: Path) -> None:
    assert find_origin(str(tmp_path)) == find_origin("/nowhere") == ""


def test_a_plan_may_start_with_wave_0(session: Session) -> None:
    todos = [
        {"content": text, "status": "pending"}
        for text in ("Wave 0: schema", "Wave 1: routes", "Wave of the future", "docs")
    ]
    session.write(
        user("add login"), call("TodoWrite", {"todos": todos}, "t1"), result(call_id="t1")
    )
    (request,) = session.requests()
    assert [task["wave_number"] for task in request["tasks"]] == [0, 1, NO_WAVE, NO_WAVE]


def test_a_subtask_stays_under_the_task_that_a_client_chose(session: Session) -> None:
    arguments = {"subagent_type": "Explore", "description": "Find callers", "prompt": "Find them"}
    session.write(user("add login"))
    request = session.ledger.find_one(REQUESTS)
    assert request is not None
    task = work.add_task(session.ledger, session.now, request=request, name="posted")
    work.add_subtask(
        session.ledger, session.now, task=task, description="Find callers", agent_type="Explore"
    )
    session.write(call("Task", arguments, "toolu_agent"), result("Two.", call_id="toolu_agent"))
    (request,) = session.requests()
    assert statuses(request["tasks"]) == [("posted", "completed")]
    assert statuses(request["tasks"][0]["subtasks"], "description") == [
        ("Find callers", "completed")
    ]


def test_a_posted_action_is_filled_in_from_the_log(session: Session) -> None:
    ident = make_action_id("s1", "toolu_w")
    post_action(session.ledger, build_action(2e9, ident=ident, session="s1", tool_name="Write"))
    session.write(
        user("x"), call("Write", {"file_path": "/a.py"}, "toolu_w"), result(call_id="toolu_w")
    )
    row = session.ledger.require(ACTIONS, ident)
    assert row["project"] == projects.find_by_path(session.ledger, str(session.project))["id"]
    assert (row["file_paths"], row["created_at"]) == (["/a.py"], 2e9)


AGENT_INPUT = {"subagent_type": "Explore", "description": "Find callers", "prompt": "Find them"}
FINAL_DETAIL = {"status": "completed", "agentId": "a91b"}
LAUNCH_DETAIL = {"status": "async_launched", "agentId": "a91b"}
NOTIFICATION = (
    "<task-notification><task-id>a91b</task-id><status>completed</status></task-notification>"
)


def timestamp(second: int) -> str:
    return f"2026-01-05T10:00:{second:02}.000Z"


def completed_call(name: str, tool_input: Line, ident: str, second: int) -> list[Line]:
    return [
        call(name, tool_input, ident, timestamp=timestamp(second)),
        result(call_id=ident, timestamp=timestamp(second + 1)),
    ]


def test_actions_in_the_log_of_an_agent_belong_to_its_subtask(session: Session) -> None:
    session.write_agent(
        *completed_call("Grep", {"pattern": "login"}, "toolu_g", 11),
        *completed_call("Edit", {"file_path": "/srv/a.py"}, "toolu_e", 13),
    )
    session.write(
        user("add login"),
        call("Task", AGENT_INPUT, "toolu_agent", timestamp=timestamp(10)),
        result("Two callers.", call_id="toolu_agent", detail=FINAL_DETAIL, timestamp=timestamp(20)),
        *completed_call("Bash", {"command": "make test"}, "toolu_b", 21),
    )
    agent_actions = [("Grep", "Find callers"), ("Edit", "Find callers")]
    assert session.actions() == [("Task", ""), *agent_actions, ("Bash", "")]
    edit = session.ledger.require(ACTIONS, make_action_id("s1", "toolu_e"))
    assert (edit["session"], edit["file_paths"]) == ("s1", ["/srv/a.py"])
    assert edit["metadata"] == {"line": 3, "agent": "a91b"}, "the line is that of the session's log"
    assert (edit["exit_code"], edit["duration_ms"]) == (0, 1000)
    before = session.ledger.list_changes(limit=1000)
    records = [change["record"] for change in before if change["kind"] == "actions"]
    assert records == [make_action_id("s1", f"toolu_{name}") for name in ("g", "e", "agent", "b")]
    session.ledger.save_progress("s1", {})
    import_all_sessions(session.store, session.ledger, session.now)
    assert session.ledger.list_changes(limit=1000) == before


def test_a_posted_action_of_an_agent_is_not_duplicated(session: Session) -> None:
    ident = make_action_id("s1", "toolu_e")
    post_action(session.ledger, build_action(2e9, ident=ident, session="s1", tool_name="Edit"))
    session.write_agent(*completed_call("Edit", {"file_path": "/srv/a.py"}, "toolu_e", 13))
    session.write(
        user("add login"), call("Task", AGENT_INPUT, "toolu_agent", timestamp=timestamp(10)),
        result(call_id="toolu_agent", detail=FINAL_DETAIL),
    )  # fmt: skip
    assert session.actions() == [("Task", ""), ("Edit", "Find callers")]


def test_a_background_agent_is_read_whenever_its_session_has_new_lines(session: Session) -> None:
    launch = [
        call("Task", AGENT_INPUT, "toolu_agent"),
        result(call_id="toolu_agent", detail=LAUNCH_DETAIL),
    ]
    session.write(user("add login"), *launch)
    assert session.actions() == [("Task", "")], "the agent has no log yet"
    grep, edit = [
        completed_call("Grep", {"pattern": "login"}, "toolu_g", 11),
        completed_call("Edit", {"file_path": "/srv/a.py"}, "toolu_e", 13),
    ]
    session.write_agent(*grep, edit[0])
    assert session.write() == 0, "logs are read only if the session changed"
    session.write(user("and logout"))
    assert session.actions() == [("Task", ""), ("Grep", "Find callers")]
    session.write_agent(edit[1])
    session.write(user(NOTIFICATION))
    assert session.actions()[2:] == [("Edit", "Find callers")]
    session.write_agent(*completed_call("Read", {"file_path": "/srv/a.py"}, "toolu_r", 15))
    session.store.end_session("s1", session.now)
    import_all_sessions(session.store, session.ledger, session.now)
    assert session.actions()[3:] == [("Read", "Find callers")], (
        "the agent continued after it had completed"
    )


def test_actions_of_an_agent_are_imported_after_their_subtask(session: Session) -> None:
    session.write_agent(*completed_call("Grep", {"pattern": "login"}, "toolu_g", 11))
    append(session.transcript, user("add login"))
    session.ingest()
    append(
        session.transcript, call("Task", AGENT_INPUT, "toolu_agent"),
        result(call_id="toolu_agent", detail=FINAL_DETAIL),
    )  # fmt: skip
    import_all_sessions(session.store, session.ledger, session.now)
    assert session.actions() == [("Task", "")], "the stored state does not contain the agent yet"
    session.write()
    assert session.actions() == [("Task", ""), ("Grep", "Find callers")]


def test_actions_of_an_agent_are_imported_even_if_its_subtask_was_deleted(session: Session) -> None:
    session.write(user("add login"), call("Task", AGENT_INPUT, "toolu_agent"))
    (subtask,) = session.ledger.find(SUBTASKS)
    status.delete_with_parts(session.ledger, SUBTASKS, subtask, session.now)
    session.write_agent(*completed_call("Grep", {"pattern": "login"}, "toolu_g", 11))
    session.write(result(call_id="toolu_agent", detail=FINAL_DETAIL))
    assert session.actions() == [("Task", ""), ("Grep", "")]
