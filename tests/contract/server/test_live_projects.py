"""Whoever watches a project hears of all that happens in it, and of nothing else."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from litestar.testing import TestClient

from holdfast.ledger import messages
from holdfast.ledger.schema import MESSAGES
from holdfast.server.app import create_app
from holdfast.server.databases import Databases
from holdfast.server.event_feed import EventFeed, Position
from holdfast.server.routes import events as event_routes
from tests.contract.server.conftest import HERE, Caller, a_state

LAST = "the last one"


async def always() -> bool:
    return True


async def told(live: EventFeed, where: Position, project: str) -> list[tuple[str, bool]]:
    """Kinds of what a project's listener hears, and whether it is gone, until the last one."""
    chosen = event_routes.Subscriber(project, None, always)
    found: list[tuple[str, bool]] = []
    with live.subscribe():
        async for some in event_routes._filter_changes(live, where, chosen):
            for one in some:
                if one["record"] == LAST:
                    return found
                found.append((one["kind"], bool(one["gone"])))
    return found


class Watched:
    """An application, and what is heard of each project while a test uses it."""

    def __init__(self, databases: Databases) -> None:
        self.databases = databases
        self.app, self.live = create_app(databases)

    def heard(self, happen: Any) -> dict[str, list[tuple[str, bool]]]:
        with TestClient(self.app, base_url=HERE) as client, client.portal() as portal:  # type: ignore[arg-type]
            api = Caller(client, self.databases)
            paths = {"ours": "/srv/ours", "theirs": "/srv/theirs"}
            projects = {
                name: api.post("/api/projects", path=path)["id"] for name, path in paths.items()
            }
            start = portal.call(self.live.start, None)
            happen(api, projects["ours"], projects["theirs"])
            for project in projects.values():
                api.post("/api/actions", tool_name="x", project_id=project, id=LAST)
                api.delete(f"/api/actions/{LAST}")
            return {
                name: portal.call(told, self.live, start.position, project)
                for name, project in projects.items()
            }


@pytest.fixture
def watched(databases: Databases) -> Watched:
    return Watched(databases)


def kinds(heard: list[tuple[str, bool]]) -> set[str]:
    return {kind for kind, _ in heard}


def test_a_wave_that_moves_is_heard_in_its_project(watched: Watched) -> None:
    def happen(api: Caller, ours: str, theirs: str) -> None:
        request = api.post("/api/requests", session_id="s1", prompt="x", project_id=ours)
        task = api.post("/api/tasks", request_id=request["id"], name="x", wave_number=1)
        api.patch(f"/api/tasks/{task['id']}", status="completed")

    heard = watched.heard(happen)
    assert heard["ours"].count(("waves", False)) >= 2
    assert heard["theirs"] == []


def test_what_names_only_its_session_is_heard_in_the_session_s_project(watched: Watched) -> None:
    def happen(api: Caller, ours: str, theirs: str) -> None:
        api.post("/api/agents", agent_id="lead", session_id="s1", project_id=ours)
        api.post("/api/actions", tool_name="Read", session_id="s1")
        api.post("/api/agents", agent_id="helper", session_id="s1")
        api.post("/api/agent-contexts", agent_id="helper", agent_type="dev", session_id="s1")
        api.post("/api/compact/save", session_id="s1", context_summary="x")
        api.post("/api/actions", tool_name="Read", session_id="nobody's")

    heard = watched.heard(happen)
    assert [kind for kind, _ in heard["ours"]] == [
        "agents", "actions", "agents", "agent_contexts", "agent_contexts",
    ]  # fmt: skip
    assert heard["theirs"] == []


def test_a_session_that_only_hooks_know_is_its_folder_s_project_s(watched: Watched) -> None:
    def happen(api: Caller, ours: str, theirs: str) -> None:
        with api.databases.connect() as db:
            db.store.save_session(
                session="s1", host="claude-code", project="/srv/ours", transcript="", cursor=None,
                state=a_state("x"), revision=0, now=1.0,
            )  # fmt: skip
        api.post("/api/actions", tool_name="Read", session_id="s1")

    heard = watched.heard(happen)
    assert (kinds(heard["ours"]), heard["theirs"]) == ({"actions"}, [])


def test_a_session_of_two_projects_is_told_to_neither(watched: Watched) -> None:
    def happen(api: Caller, ours: str, theirs: str) -> None:
        for project in (ours, theirs):
            api.post("/api/requests", session_id="s1", prompt=project, project_id=project)
        api.post("/api/actions", tool_name="Read", session_id="s1")
        api.post("/api/waves/s1/create")

    heard = watched.heard(happen)
    assert kinds(heard["ours"]) == kinds(heard["theirs"]) == {"requests"}


def test_that_a_message_was_read_is_heard_where_it_was_sent(watched: Watched) -> None:
    def happen(api: Caller, ours: str, theirs: str) -> None:
        api.post("/api/agents", agent_id="a", session_id="s1", project_id=ours)
        for ident, named in (
            ("m1", {"project_id": ours}),
            ("m2", {"session_id": "s1"}),
            ("m3", {}),
        ):
            api.post("/api/messages", from_agent_id="x", id=ident, to_agent_id="a", **named)
            api.post(f"/api/messages/{ident}/read", agent_id="a")

    heard = watched.heard(happen)
    assert [kind for kind, _ in heard["ours"]].count("message_reads") == 2
    assert heard["theirs"] == []


def test_what_agents_listen_to_and_wait_for_is_heard_in_their_project(watched: Watched) -> None:
    def happen(api: Caller, ours: str, theirs: str) -> None:
        api.post("/api/agents", agent_id="a", project_id=ours)
        for project in (ours, theirs):
            api.post("/api/agents", agent_id="both", session_id=project, project_id=project)
        for agent in ("a", "both"):
            for name in ("kept", "gone"):
                api.post("/api/subscribe", agent_id=agent, topic=name)
                api.post("/api/blocking", blocked_id=agent, blocker_id=name)
            api.post("/api/unsubscribe", agent_id=agent, topic="gone")
            api.post("/api/unblock", blocked_id=agent, blocker_id="gone")

    heard = watched.heard(happen)
    rest = [one for one in heard["ours"] if one[0] != "agents"]
    both = [("blockings", False), ("subscriptions", False)]
    assert sorted(rest) == sorted([*both, *both, *((kind, True) for kind, _ in both)])
    assert kinds(heard["theirs"]) == {"agents"}


def test_a_project_that_is_given_a_name_is_heard(watched: Watched) -> None:
    def happen(api: Caller, ours: str, theirs: str) -> None:
        api.post("/api/projects", path="/srv/ours", name="Ours")

    heard = watched.heard(happen)
    assert (kinds(heard["ours"]), heard["theirs"]) == ({"projects"}, [])


def test_that_a_message_was_read_is_told_by_the_message_s_name(databases: Databases) -> None:
    with databases.connect() as db:
        messages.send(db.ledger, 1.0, ident="m1", from_agent_id="a", to_agent_id="b")
        (row,) = db.ledger.find(MESSAGES)
        for now in (2.0, 3.0):
            messages.mark_read(db.ledger, [row], "b", now)
    found, _ = EventFeed(databases)._read((0, 0))
    assert [(one["kind"], one["record"]) for one in found] == [
        ("messages", "m1"), ("message_reads", "m1"), ("message_reads", "m1"),
    ]  # fmt: skip


def test_each_event_says_whose_it_is(databases: Databases) -> None:
    app, live = create_app(databases)

    async def listened() -> list[Any]:
        with live.subscribe():
            async for some in live.changes((0, 0)):
                return some
        return []

    with TestClient(app, base_url=HERE) as client, client.portal() as portal:  # type: ignore[arg-type]
        api = Caller(client, databases)
        project = api.post("/api/projects", path="/srv/ours")["id"]
        api.post("/api/agents", agent_id="a", session_id="s1", project_id=project)
        api.post("/api/actions", tool_name="Read", session_id="s1")
        last = portal.call(asyncio.wait_for, listened(), 60)[-1]
    assert f'"project_id":"{project}","session_id":"s1"'.encode() in last["data"]
