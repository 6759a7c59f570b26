"""A subscriber of a project gets all changes of the project, and none of another."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from litestar.testing import TestClient

from holdfast.ledger import messages
from holdfast.ledger.schema import MESSAGES
from holdfast.server.app import create_app
from holdfast.server.auth import accept_all
from holdfast.server.databases import Databases
from holdfast.server.event_feed import EventFeed, Position
from holdfast.server.routes import events as event_routes
from tests.contract.server.conftest import BASE_URL, ApiClient, make_state

TIMEOUT_SECONDS = 60
LAST_ACTION = "last action"

Event = tuple[str, bool]
"""The kind of a row, and whether the row was deleted."""
Writes = Callable[[ApiClient, str, str], None]
"""Writes to the API, given the ids of our project and of another one."""


async def always_valid() -> bool:
    return True


async def receive_events(feed: EventFeed, start: Position, project: str) -> list[Event]:
    """The events that a subscriber of a project gets before `LAST_ACTION`."""
    subscriber = event_routes.Subscriber(project, None, always_valid)
    events: list[Event] = []
    with feed.subscribe():
        async for changes in event_routes._filter_changes(feed, start, subscriber):
            for change in changes:
                if change["record"] == LAST_ACTION:
                    return events
                events.append((change["kind"], bool(change["gone"])))
    return events


class TwoProjects:
    """An application with two projects, `ours` and `theirs`."""

    def __init__(self, databases: Databases) -> None:
        self.databases = databases
        self.app, self.feed = create_app(databases, identify=accept_all)

    def collect_events(self, write: Writes) -> dict[str, list[Event]]:
        """Call `write`, and return the events that a subscriber of each project gets."""
        with TestClient(self.app, base_url=BASE_URL) as client, client.portal() as portal:  # type: ignore[arg-type]
            api = ApiClient(client, self.databases)
            paths = {"ours": "/srv/ours", "theirs": "/srv/theirs"}
            projects = {
                name: api.post("/api/projects", path=path)["id"] for name, path in paths.items()
            }
            start = portal.call(self.feed.find_start, None)
            write(api, projects["ours"], projects["theirs"])
            for project in projects.values():
                api.post("/api/actions", tool_name="x", project_id=project, id=LAST_ACTION)
                api.delete(f"/api/actions/{LAST_ACTION}")
            return {
                name: portal.call(receive_events, self.feed, start.position, project)
                for name, project in projects.items()
            }


@pytest.fixture
def two_projects(databases: Databases) -> TwoProjects:
    return TwoProjects(databases)


def kinds(events: list[Event]) -> set[str]:
    return {kind for kind, _ in events}


def test_progress_of_a_wave_is_sent_to_its_project(two_projects: TwoProjects) -> None:
    def write(api: ApiClient, ours: str, theirs: str) -> None:
        request = api.post("/api/requests", session_id="s1", prompt="x", project_id=ours)
        task = api.post("/api/tasks", request_id=request["id"], name="x", wave_number=1)
        api.patch(f"/api/tasks/{task['id']}", status="completed")

    events = two_projects.collect_events(write)
    assert events["ours"].count(("waves", False)) >= 2
    assert events["theirs"] == []


def test_a_row_without_a_project_is_sent_to_the_project_of_its_session(
    two_projects: TwoProjects,
) -> None:
    def write(api: ApiClient, ours: str, theirs: str) -> None:
        api.post("/api/agents", agent_id="lead", session_id="s1", project_id=ours)
        api.post("/api/actions", tool_name="Read", session_id="s1")
        api.post("/api/agents", agent_id="helper", session_id="s1")
        api.post("/api/agent-contexts", agent_id="helper", agent_type="dev", session_id="s1")
        api.post("/api/compact/save", session_id="s1", context_summary="x")
        api.post("/api/actions", tool_name="Read", session_id="without project")

    events = two_projects.collect_events(write)
    assert [kind for kind, _ in events["ours"]] == [
        "agents", "actions", "agents", "agent_contexts", "agent_contexts",
    ]  # fmt: skip
    assert events["theirs"] == []


def test_a_session_that_only_hooks_saved_belongs_to_the_project_of_its_folder(
    two_projects: TwoProjects,
) -> None:
    def write(api: ApiClient, ours: str, theirs: str) -> None:
        with api.databases.connect() as db:
            db.store.save_session(
                session="s1", host="claude-code", project="/srv/ours", transcript="", cursor=None,
                state=make_state("x"), revision=0, now=1.0,
            )  # fmt: skip
        api.post("/api/actions", tool_name="Read", session_id="s1")

    events = two_projects.collect_events(write)
    assert (kinds(events["ours"]), events["theirs"]) == ({"actions"}, [])


def test_rows_of_a_session_with_two_projects_are_sent_to_neither(two_projects: TwoProjects) -> None:
    def write(api: ApiClient, ours: str, theirs: str) -> None:
        for project in (ours, theirs):
            api.post("/api/requests", session_id="s1", prompt=project, project_id=project)
        api.post("/api/actions", tool_name="Read", session_id="s1")
        api.post("/api/waves/s1/create")

    events = two_projects.collect_events(write)
    assert kinds(events["ours"]) == kinds(events["theirs"]) == {"requests"}


def test_that_a_message_was_read_is_sent_to_the_project_of_the_message(
    two_projects: TwoProjects,
) -> None:
    def write(api: ApiClient, ours: str, theirs: str) -> None:
        api.post("/api/agents", agent_id="a", session_id="s1", project_id=ours)
        for ident, fields in (
            ("m1", {"project_id": ours}),
            ("m2", {"session_id": "s1"}),
            ("m3", {}),
        ):
            api.post("/api/messages", from_agent_id="x", id=ident, to_agent_id="a", **fields)
            api.post(f"/api/messages/{ident}/read", agent_id="a")

    events = two_projects.collect_events(write)
    assert [kind for kind, _ in events["ours"]].count("message_reads") == 2
    assert events["theirs"] == []


def test_subscriptions_and_blockings_of_an_agent_are_sent_to_its_only_project(
    two_projects: TwoProjects,
) -> None:
    def write(api: ApiClient, ours: str, theirs: str) -> None:
        api.post("/api/agents", agent_id="a", project_id=ours)
        for project in (ours, theirs):
            api.post("/api/agents", agent_id="both", session_id=project, project_id=project)
        for agent in ("a", "both"):
            for name in ("kept", "removed"):
                api.post("/api/subscribe", agent_id=agent, topic=name)
                api.post("/api/blocking", blocked_id=agent, blocker_id=name)
            api.post("/api/unsubscribe", agent_id=agent, topic="removed")
            api.post("/api/unblock", blocked_id=agent, blocker_id="removed")

    events = two_projects.collect_events(write)
    other_events = [event for event in events["ours"] if event[0] != "agents"]
    added = [("blockings", False), ("subscriptions", False)]
    removed = [("blockings", True), ("subscriptions", True)]
    assert sorted(other_events) == sorted([*added, *added, *removed])
    assert kinds(events["theirs"]) == {"agents"}


def test_a_new_name_of_a_project_is_sent(two_projects: TwoProjects) -> None:
    def write(api: ApiClient, ours: str, theirs: str) -> None:
        api.post("/api/projects", path="/srv/ours", name="Ours")

    events = two_projects.collect_events(write)
    assert (kinds(events["ours"]), events["theirs"]) == ({"projects"}, [])


def test_the_event_for_a_read_message_has_the_id_of_the_message(databases: Databases) -> None:
    with databases.connect() as db:
        messages.send(db.ledger, 1.0, ident="m1", from_agent_id="a", to_agent_id="b")
        (row,) = db.ledger.find(MESSAGES)
        for now in (2.0, 3.0):
            messages.mark_read(db.ledger, [row], "b", now)
    changes, _ = EventFeed(databases)._read((0, 0))
    assert [(change["kind"], change["record"]) for change in changes] == [
        ("messages", "m1"), ("message_reads", "m1"), ("message_reads", "m1"),
    ]  # fmt: skip


def test_each_event_names_its_project_and_session(databases: Databases) -> None:
    app, feed = create_app(databases, identify=accept_all)

    async def receive_batch() -> list[Any]:
        with feed.subscribe():
            async for changes in feed.follow_changes((0, 0)):
                return changes
        return []

    with TestClient(app, base_url=BASE_URL) as client, client.portal() as portal:  # type: ignore[arg-type]
        api = ApiClient(client, databases)
        project = api.post("/api/projects", path="/srv/ours")["id"]
        api.post("/api/agents", agent_id="a", session_id="s1", project_id=project)
        api.post("/api/actions", tool_name="Read", session_id="s1")
        last = portal.call(asyncio.wait_for, receive_batch(), TIMEOUT_SECONDS)[-1]
    assert f'"project_id":"{project}","session_id":"s1"'.encode() in last["data"]
