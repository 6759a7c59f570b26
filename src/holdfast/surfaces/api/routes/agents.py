"""Agents, and how full their contexts are."""

from __future__ import annotations

import time
from typing import Any

from litestar import Router, get, post
from litestar.params import FromPath, JSONBody

from holdfast.errors import NoSuchRecord
from holdfast.ledger import agents
from holdfast.ledger.tables import AGENTS
from holdfast.surfaces.api import answers, cursor, named
from holdfast.surfaces.api.needs import TheDesk
from holdfast.surfaces.api.rows import Answer
from holdfast.surfaces.api.shapes import Consumption, Filter, Limit, Page, SeenAgent


@post("/agents", sync_to_thread=True)
def see_agent(desk: TheDesk, data: JSONBody[SeenAgent]) -> Answer:
    """Tell that an agent is there, and how full its context is. What is not said stays."""
    with desk.books() as books:
        row = agents.seen(
            books.ledger, time.time(), agent_id=data.agent_id, session=data.session_id,
            project=named.project(desk, books.ledger, data.project_id),
            led_in=named.of_session(desk, books, data.session_id), agent_type=data.agent_type,
            parent=data.parent_agent_id or "", status=data.status, used=data.current_usage,
            capacity=data.max_capacity,
        )  # fmt: skip
    desk.joined(data.session_id)
    return answers.agent(row, time.time())


@get("/agents", sync_to_thread=True)
def all_agents(
    desk: TheDesk,
    limit: Limit = 100,
    page: Page = None,
    session_id: Filter = None,
    project_id: Filter = None,
    agent_type: Filter = None,
    agent_id: Filter = None,
    status: Filter = None,
    id: Filter = None,
) -> Answer:
    """Agents with their capacity, the latest first."""
    given = {
        "session": session_id, "project": project_id, "agent_type": agent_type,
        "agent_id": agent_id, "status": status, "id": id,
    }  # fmt: skip
    equal: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    with desk.books() as books:
        rows = books.ledger.rows(AGENTS, most=limit + 1, before=cursor.read(page), **equal)
    kept, after = cursor.page(rows, limit, AGENTS.order)
    now = time.time()
    return {"agents": [answers.agent(row, now) for row in kept], "next": after}


@get("/capacity/{ident:str}", sync_to_thread=True)
def capacity(desk: TheDesk, ident: FromPath[str], session_id: Filter = None) -> Answer:
    """How full an agent's context is, how fast it fills, and when it will be full."""
    with desk.books() as books:
        row = agents.latest(books.ledger, ident, session_id)
    if row is None:
        raise NoSuchRecord(f"agent {ident}")
    return answers.agent(row, time.time())


@post("/capacity/{ident:str}/reset", sync_to_thread=True, status_code=200)
def reset_capacity(desk: TheDesk, ident: FromPath[str], session_id: Filter = None) -> Answer:
    """An agent was compacted: its context counts from nothing again."""
    with desk.books() as books:
        row = agents.latest(books.ledger, ident, session_id)
        if row is None:
            raise NoSuchRecord(f"agent {ident}")
        now = time.time()
        return answers.agent(agents.compacted(books.ledger, row, now), now)


@post("/tokens/track", sync_to_thread=True)
def track_tokens(desk: TheDesk, data: JSONBody[Consumption]) -> Answer:
    """Tell how many tokens a call took of an agent's context."""
    with desk.books() as books:
        row = agents.consumed(
            books.ledger, data.agent_id, data.session_id, data.input_tokens + data.output_tokens,
            time.time(),
        )  # fmt: skip
    return answers.agent(row, time.time())


def router() -> Router:
    return Router(
        "/api",
        tags=["agents"],
        route_handlers=[see_agent, all_agents, capacity, reset_capacity, track_tokens],
    )
