"""Prompts, plan, sub-agents and tool calls of a session are imported once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast.hosts.hook_event import HookEvent
from holdfast.ledger import hierarchy, projects, status, work
from holdfast.ledger.actions import action_id, build_action, post_action
from holdfast.ledger.repository import Ledger, Row
from holdfast.ledger.schema import ACTIONS, AGENTS, NO_WAVE, REQUESTS, SUBTASKS, TASKS
from holdfast.services.compaction.ingest import ingest_transcript
from holdfast.services.projects import find_origin
from holdfast.services.team.import_session import import_all_sessions
from holdfast.store import sqlite_migrations
from holdfast.store.sqlite import SQLiteDatabase, SQLiteStore
from tests.unit import rollout_lines as codex
from tests.unit.transcript_lines import Line, boundary, call, raw, result, spent, user

PLAN = ("Wave 1: schema", "Wave 2: routes")


class Scene:
    """A session whose transcript grows, and the ledger beside it."""

    def __init__(self, folder: Path) -> None:
        self.transcript = folder / "s1.jsonl"
        self.project = folder / "app"
        self.project.mkdir()
        self.store = SQLiteStore(str(folder / "home" / "holdfast.db"))
        path = str(folder / "home" / "ledger.db")
        self.ledger = Ledger(SQLiteDatabase(path, migrations=sqlite_migrations.LEDGER_MIGRATIONS))
        self.now = 1_790_000_000.0

    def say(self, *lines: Line, session: str = "s1") -> int:
        """Let the host write, fold and fill; how many sessions had moved on."""
        append(self.transcript, *lines)
        self.fold(session)
        return import_all_sessions(self.store, self.ledger, self.now)

    def fold(self, session: str = "s1") -> None:
        self.now += 10
        event = HookEvent(
            host="claude-code", name="Stop", session_id=session,
            transcript_path=str(self.transcript), cwd=str(self.project),
        )  # fmt: skip
        ingest_transcript(self.store, event, self.now)
        self.store.commit()

    def agent_says(self, *lines: Line) -> None:
        """Let a sub-agent write to its own log, as newer hosts do."""
        own = self.transcript.with_suffix("") / "subagents" / "agent-a91b.jsonl"
        own.parent.mkdir(parents=True, exist_ok=True)
        append(own, *({**line, "isSidechain": True, "agentId": "a91b"} for line in lines))

    def actions(self) -> list[tuple[str, str]]:
        """Tool and subtask description of each action, oldest first."""
        rows = self.ledger.find(ACTIONS, newest_first=False)
        descriptions = {row["id"]: row["description"] for row in self.ledger.find(SUBTASKS)}
        return [(row["tool_name"], descriptions.get(row["subtask"], "")) for row in rows]

    def tree(self) -> list[Row]:
        project = projects.find_by_path(self.ledger, str(self.project))
        found: list[Row] = hierarchy.build_hierarchy(self.ledger, project["id"])["requests"]
        return found


def append(file: Path, *lines: Line) -> None:
    with file.open("ab") as opened:
        opened.writelines(raw(line) + b"\n" for line in lines)


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    made = Scene(tmp_path)
    with closing(made.store), closing(made.ledger.database):
        yield made


def plan(*statuses: str, ident: str = "toolu_plan") -> list[Line]:
    todos = [
        {"content": text, "status": status} for text, status in zip(PLAN, statuses, strict=False)
    ]
    return [call("TodoWrite", {"todos": todos}, ident), result(ident=ident)]


def names(rows: list[Row], column: str = "name") -> list[tuple[Any, ...]]:
    return [(row[column], row["status"]) for row in rows]


def test_prompts_plan_and_agents_become_requests_tasks_and_subtasks(scene: Scene) -> None:
    arguments = {"subagent_type": "Explore", "description": "Find callers", "prompt": "Find them"}
    scene.say(
        user("add login"), *plan("in_progress", "pending"), call("Task", arguments, "toolu_agent")
    )
    (request,) = scene.tree()
    assert (request["prompt"], request["status"]) == ("add login", "active")
    assert names(request["tasks"]) == [(PLAN[0], "running"), (PLAN[1], "pending")]
    assert [task["wave_number"] for task in request["tasks"]] == [1, 2]
    (subtask,) = request["tasks"][0]["subtasks"]
    assert (subtask["agent_type"], subtask["description"]) == ("Explore", "Find callers")
    assert subtask["status"] == "running"
    scene.say(result("Two callers.", ident="toolu_agent"), *plan("completed", "in_progress"))
    (request,) = scene.tree()
    assert names(request["tasks"]) == [(PLAN[0], "completed"), (PLAN[1], "running")]
    (subtask,) = request["tasks"][0]["subtasks"]
    assert (subtask["status"], subtask["result"]) == ("completed", {"text": "Two callers."})


def test_importing_again_changes_nothing(scene: Scene) -> None:
    scene.say(user("add login"), *plan("in_progress"), spent(50_000))
    before = scene.ledger.list_changes(limit=1000)
    assert scene.say() == 0
    # Whoever lost the memory of what was read finds the same again.
    scene.ledger.save_progress("s1", {})
    assert import_all_sessions(scene.store, scene.ledger, scene.now) == 1
    assert scene.ledger.list_changes(limit=1000) == before


def test_an_agent_outside_the_plan_gets_an_unplanned_task(scene: Scene) -> None:
    arguments = {"subagent_type": "Explore", "description": "Look around"}
    scene.say(user("add login"), call("Task", arguments, "toolu_agent"))
    (request,) = scene.tree()
    assert names(request["tasks"]) == [("Work outside the plan", "running")]
    scene.say(result("Nothing there.", ident="toolu_agent"))
    assert names(scene.tree()[0]["tasks"]) == [("Work outside the plan", "completed")]


def test_tasks_missing_from_a_new_plan_are_cancelled(scene: Scene) -> None:
    scene.say(user("add login"), *plan("pending", "pending"))
    scene.say(*plan("pending", ident="toolu_again"))
    assert names(scene.tree()[0]["tasks"]) == [(PLAN[0], "pending"), (PLAN[1], "cancelled")]


def test_tool_calls_become_actions_of_their_session(scene: Scene) -> None:
    at, later = "2026-01-05T10:00:00.000Z", "2026-01-05T10:00:01.500Z"
    scene.say(
        user("add login"),
        call("Write", {"file_path": "/srv/a.py", "content": "x" * 9000}, "toolu_1", timestamp=at),
        result(ident="toolu_1", timestamp=later),
        call("Bash", {"command": "make test"}, "toolu_2"),
    )
    (row,) = scene.ledger.find(ACTIONS, session="s1")
    assert row["id"] == action_id("s1", "toolu_1")
    assert (row["tool_name"], row["file_paths"], row["exit_code"]) == ("Write", ["/srv/a.py"], 0)
    assert (row["duration_ms"], row["created_at"]) == (1500, 1_767_607_200.0)
    assert row["input"] == {"file_path": "/srv/a.py"}, "the transcript has the rest"
    scene.say(result("1 failed", ok=False, ident="toolu_2"))
    bash = scene.ledger.require(ACTIONS, action_id("s1", "toolu_2"))
    assert (bash["exit_code"], bash["input"]) == (1, {"command": "make test"})
    assert scene.ledger.count(ACTIONS) == 2


def test_rows_that_a_caller_posted_first_are_not_duplicated(scene: Scene) -> None:
    project = projects.ensure_project(scene.ledger, str(scene.project), 1.0)
    request = work.add_request(
        scene.ledger, 2.0, project=project["id"], session="s1", prompt="Add login"
    )
    task = work.add_task(scene.ledger, 3.0, request=request, name=PLAN[0], wave_number=1)
    work.set_status(scene.ledger, TASKS, task, "completed", 4.0)
    scene.say(user("add login"), *plan("pending", "pending"))
    (found,) = scene.tree()
    assert found["id"] == request["id"]
    assert names(found["tasks"]) == [(PLAN[0], "completed"), (PLAN[1], "pending")]
    scene.say(*plan("in_progress", "pending", ident="toolu_2"))
    assert names(scene.tree()[0]["tasks"])[0] == (PLAN[0], "running"), "the host's news counts"


def test_a_caller_s_status_stays_until_the_session_changes_it(scene: Scene) -> None:
    scene.say(user("add login"), *plan("in_progress", "pending"))
    task = scene.tree()[0]["tasks"][0]
    work.set_status(scene.ledger, TASKS, task, "blocked", scene.now)
    scene.say(user("and logout"))
    assert scene.tree()[0]["tasks"][0]["status"] == "blocked"
    assert [row["status"] for row in scene.tree()] == ["completed", "active"]


def test_the_session_itself_is_an_agent_with_a_context_window(scene: Scene) -> None:
    scene.say(user("add login"), spent(50_000))
    (row,) = scene.ledger.find(AGENTS)
    assert (row["agent_id"], row["agent_type"], row["used"]) == ("s1", "main", 50_000)


def test_a_codex_session_is_imported_too(scene: Scene) -> None:
    spawned = codex.call("spawn_agent", {"task_name": "look", "message": "Look around."}, "call_3")
    begun = codex.output('{"agent_id": "/root/look"}', "call_3")
    scene.say(
        codex.meta(), codex.turn(), codex.prompt("add login"), codex.plan(schema="in_progress"),
        codex.output("Plan updated"),
        *codex.ran("make test", code=2, ident="call_2"), spawned, begun,
        *codex.patched(
            "*** Add File: new.py", "+x = 1", "*** Delete File: old.py", ident="call_4"
        ),
    )  # fmt: skip
    (request,) = scene.tree()
    assert request["prompt"] == "add login"
    (task,) = request["tasks"]
    assert (task["name"], task["status"]) == ("schema", "running")
    assert [one["agent_type"] or one["description"] for one in task["subtasks"]] == ["look"]
    calls = {row["tool_name"]: row for row in scene.ledger.find(ACTIONS)}
    assert calls["Bash"]["exit_code"] == 1
    assert calls["apply_patch"]["file_paths"] == ["new.py", "old.py"]


def test_a_compaction_has_the_time_when_hooks_saw_it(scene: Scene) -> None:
    scene.say(user("add login"))
    scene.store.open_compaction("s1", 1, trigger="auto", snapshot=None, now=scene.now)
    scene.say(boundary(trigger="auto", preTokens=9), spent(5000))
    (main,) = scene.ledger.find(AGENTS)
    assert (main["compactions"], main["compacted_at"]) == (1, scene.now - 10)
    scene.say(boundary(trigger="auto", preTokens=9), spent(5000))
    (main,) = scene.ledger.find(AGENTS)
    assert (main["compactions"], main["compacted_at"]) == (2, scene.now), "no hook saw it"


def test_an_ended_session_has_no_open_requests(scene: Scene) -> None:
    scene.say(user("add login"))
    scene.store.end_session("s1", scene.now)
    assert import_all_sessions(scene.store, scene.ledger, scene.now) == 1
    assert [row["status"] for row in scene.ledger.find(REQUESTS)] == ["completed"]


@pytest.mark.parametrize(("url", "origin"), [
    ("git@example.org:team/app.git", "example.org/team/app"),
    ("https://ada:secret@Example.org/team/app.git", "example.org/team/app"),
    ("ssh://git@example.org/team/app", "example.org/team/app"),
    ("/srv/git/app.git", ""),
    ("file:///srv/git/app.git", ""),
])  # fmt: skip
def test_clones_are_identified_by_their_origin(tmp_path: Path, url: str, origin: str) -> None:
    (tmp_path / ".git").mkdir()
    config = f'[core]\n\tbare = false\n[remote "origin"]\n\turl = {url}\n[branch "main"]\n'
    (tmp_path / ".git" / "config").write_text(config)
    assert find_origin(str(tmp_path)) == origin


def test_a_tree_without_a_remote_has_no_origin(tmp_path: Path) -> None:
    assert find_origin(str(tmp_path)) == find_origin("/nowhere") == ""


def test_a_plan_may_start_with_wave_0(scene: Scene) -> None:
    todos = [
        {"content": text, "status": "pending"}
        for text in ("Wave 0: schema", "Wave 1: routes", "Wave of the future", "docs")
    ]
    scene.say(user("add login"), call("TodoWrite", {"todos": todos}, "t1"), result(ident="t1"))
    (request,) = scene.tree()
    assert [task["wave_number"] for task in request["tasks"]] == [0, 1, NO_WAVE, NO_WAVE]


def test_a_subtask_stays_under_the_task_that_a_caller_chose(scene: Scene) -> None:
    arguments = {"subagent_type": "Explore", "description": "Find callers", "prompt": "Find them"}
    scene.say(user("add login"))
    request = scene.ledger.find_one(REQUESTS)
    assert request is not None
    task = work.add_task(scene.ledger, scene.now, request=request, name="mine")
    work.add_subtask(
        scene.ledger, scene.now, task=task, description="Find callers", agent_type="Explore"
    )
    scene.say(call("Task", arguments, "toolu_agent"), result("Two.", ident="toolu_agent"))
    (request,) = scene.tree()
    assert names(request["tasks"]) == [("mine", "completed")]
    assert names(request["tasks"][0]["subtasks"], "description") == [("Find callers", "completed")]


def test_a_posted_action_is_completed_from_the_log(scene: Scene) -> None:
    ident = action_id("s1", "toolu_w")
    post_action(scene.ledger, build_action(2e9, ident=ident, session="s1", tool_name="Write"))
    scene.say(user("x"), call("Write", {"file_path": "/a.py"}, "toolu_w"), result(ident="toolu_w"))
    row = scene.ledger.require(ACTIONS, ident)
    assert row["project"] == projects.find_by_path(scene.ledger, str(scene.project))["id"]
    assert (row["file_paths"], row["created_at"]) == (["/a.py"], 2e9)


ASKED = {"subagent_type": "Explore", "description": "Find callers", "prompt": "Find them"}
CAME_BACK = {"status": "completed", "agentId": "a91b"}
LAUNCHED = {"status": "async_launched", "agentId": "a91b"}
NOTICE = "<task-notification><task-id>a91b</task-id><status>completed</status></task-notification>"


def at(second: int) -> str:
    return f"2026-01-05T10:00:{second:02}.000Z"


def did(name: str, given: Line, ident: str, second: int) -> list[Line]:
    return [
        call(name, given, ident, timestamp=at(second)),
        result(ident=ident, timestamp=at(second + 1)),
    ]


def test_actions_in_an_agent_s_own_log_belong_to_its_subtask(scene: Scene) -> None:
    scene.agent_says(
        *did("Grep", {"pattern": "login"}, "toolu_g", 11),
        *did("Edit", {"file_path": "/srv/a.py"}, "toolu_e", 13),
    )
    scene.say(
        user("add login"),
        call("Task", ASKED, "toolu_agent", timestamp=at(10)),
        result("Two callers.", ident="toolu_agent", detail=CAME_BACK, timestamp=at(20)),
        *did("Bash", {"command": "make test"}, "toolu_b", 21),
    )
    of_agent = [("Grep", "Find callers"), ("Edit", "Find callers")]
    assert scene.actions() == [("Task", ""), *of_agent, ("Bash", "")]
    edit = scene.ledger.require(ACTIONS, action_id("s1", "toolu_e"))
    assert (edit["session"], edit["file_paths"]) == ("s1", ["/srv/a.py"])
    assert edit["metadata"] == {"line": 3, "agent": "a91b"}, "the line of the session's own log"
    assert (edit["exit_code"], edit["duration_ms"]) == (0, 1000)
    before = scene.ledger.list_changes(limit=1000)
    records = [change["record"] for change in before if change["kind"] == "actions"]
    assert records == [action_id("s1", f"toolu_{name}") for name in ("g", "e", "agent", "b")]
    scene.ledger.save_progress("s1", {})
    import_all_sessions(scene.store, scene.ledger, scene.now)
    assert scene.ledger.list_changes(limit=1000) == before


def test_a_posted_action_of_an_agent_is_not_duplicated(scene: Scene) -> None:
    ident = action_id("s1", "toolu_e")
    post_action(scene.ledger, build_action(2e9, ident=ident, session="s1", tool_name="Edit"))
    scene.agent_says(*did("Edit", {"file_path": "/srv/a.py"}, "toolu_e", 13))
    scene.say(
        user("add login"), call("Task", ASKED, "toolu_agent", timestamp=at(10)),
        result(ident="toolu_agent", detail=CAME_BACK),
    )  # fmt: skip
    assert scene.actions() == [("Task", ""), ("Edit", "Find callers")]


def test_a_background_agent_is_read_whenever_its_session_has_new_lines(scene: Scene) -> None:
    begun = [call("Task", ASKED, "toolu_agent"), result(ident="toolu_agent", detail=LAUNCHED)]
    scene.say(user("add login"), *begun)
    assert scene.actions() == [("Task", "")], "its log need not be there yet"
    grep, edit = [
        did("Grep", {"pattern": "login"}, "toolu_g", 11),
        did("Edit", {"file_path": "/srv/a.py"}, "toolu_e", 13),
    ]
    scene.agent_says(*grep, edit[0])
    assert scene.say() == 0, "logs are read only if the session changed"
    scene.say(user("and logout"))
    assert scene.actions() == [("Task", ""), ("Grep", "Find callers")]
    scene.agent_says(edit[1])
    scene.say(user(NOTICE))
    assert scene.actions()[2:] == [("Edit", "Find callers")]
    scene.agent_says(*did("Read", {"file_path": "/srv/a.py"}, "toolu_r", 15))
    scene.store.end_session("s1", scene.now)
    import_all_sessions(scene.store, scene.ledger, scene.now)
    assert scene.actions()[3:] == [("Read", "Find callers")], "it was sent back to work"


def test_an_agent_s_actions_wait_for_their_subtask(scene: Scene) -> None:
    scene.agent_says(*did("Grep", {"pattern": "login"}, "toolu_g", 11))
    append(scene.transcript, user("add login"))
    scene.fold()
    append(
        scene.transcript, call("Task", ASKED, "toolu_agent"),
        result(ident="toolu_agent", detail=CAME_BACK),
    )  # fmt: skip
    import_all_sessions(scene.store, scene.ledger, scene.now)
    assert scene.actions() == [("Task", "")], "the log is further than the state"
    scene.say()
    assert scene.actions() == [("Task", ""), ("Grep", "Find callers")]


def test_an_agent_s_actions_stay_when_its_subtask_is_deleted(scene: Scene) -> None:
    scene.say(user("add login"), call("Task", ASKED, "toolu_agent"))
    (subtask,) = scene.ledger.find(SUBTASKS)
    status.delete_with_parts(scene.ledger, SUBTASKS, subtask, scene.now)
    scene.agent_says(*did("Grep", {"pattern": "login"}, "toolu_g", 11))
    scene.say(result(ident="toolu_agent", detail=CAME_BACK))
    assert scene.actions() == [("Task", ""), ("Grep", "")]
