"""Agents with their capacity, and the waves they work in."""

from __future__ import annotations

import time
from typing import Any

from litestar import Router, get, post
from litestar.params import FromPath, JSONBody

from holdfast.errors import NoSuchRecord
from holdfast.ledger import agents, waves
from holdfast.ledger.tables import AGENTS
from holdfast.surfaces.api import answers, cursor, named
from holdfast.surfaces.api.needs import TheDesk
from holdfast.surfaces.api.rows import Answer
from holdfast.surfaces.api.shapes import Consumption, Filter, Limit, Page, SeenAgent, WaveNumber

# Agents


@post("/agents", sync_to_thread=True)
def see_agent(desk: TheDesk, data: JSONBody[SeenAgent]) -> Answer:
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
    with desk.books() as books:
        row = agents.latest(books.ledger, ident, session_id)
    if row is None:
        raise NoSuchRecord(f"agent {ident}")
    return answers.agent(row, time.time())


@post("/capacity/{ident:str}/reset", sync_to_thread=True, status_code=200)
def reset_capacity(desk: TheDesk, ident: FromPath[str], session_id: Filter = None) -> Answer:
    """After a compaction."""
    with desk.books() as books:
        row = agents.latest(books.ledger, ident, session_id)
        if row is None:
            raise NoSuchRecord(f"agent {ident}")
        now = time.time()
        return answers.agent(agents.compacted(books.ledger, row, now), now)


@post("/tokens/track", sync_to_thread=True)
def track_tokens(desk: TheDesk, data: JSONBody[Consumption]) -> Answer:
    with desk.books() as books:
        row = agents.consumed(
            books.ledger, data.agent_id, data.session_id, data.input_tokens + data.output_tokens,
            time.time(),
        )  # fmt: skip
    return answers.agent(row, time.time())


# Waves


def _said(data: WaveNumber | None) -> WaveNumber:
    """Nothing has to be said: then there need not be a body."""
    return data or WaveNumber()


@post("/waves/{session_id:str}/create", sync_to_thread=True)
def create_wave(
    desk: TheDesk, session_id: FromPath[str], data: JSONBody[WaveNumber | None] = None
) -> Answer:
    with desk.books() as books:
        return _wave(waves.create(books.ledger, session_id, _said(data).wave_number, time.time()))


@post("/waves/{session_id:str}/start", sync_to_thread=True, status_code=200)
def start_wave(
    desk: TheDesk, session_id: FromPath[str], data: JSONBody[WaveNumber | None] = None
) -> Answer:
    with desk.books() as books:
        return _wave(waves.start(books.ledger, session_id, _said(data).wave_number, time.time()))


@post("/waves/{session_id:str}/transition", sync_to_thread=True, status_code=200)
def next_wave(
    desk: TheDesk, session_id: FromPath[str], data: JSONBody[WaveNumber | None] = None
) -> Answer:
    """End the running wave and start the next, or the one that is named; with open tasks only by
    `force`.
    """
    said = _said(data)
    with desk.books() as books:
        return _wave(waves.transition(
            books.ledger, session_id, time.time(), number=said.wave_number, force=said.force
        ))  # fmt: skip


@get("/waves/{session_id:str}/current", sync_to_thread=True)
def current_wave(desk: TheDesk, session_id: FromPath[str]) -> Answer:
    with desk.books() as books:
        return _wave(waves.current(books.ledger, session_id))


@get("/waves/{session_id:str}/history", sync_to_thread=True)
def wave_history(
    desk: TheDesk, session_id: FromPath[str], limit: Limit = 100, page: Page = None
) -> Answer:
    """All waves of a session, the first one first."""
    with desk.books() as books:
        found = waves.waves(books.ledger, session_id)
    kept, after = cursor.part(found, limit, page, "wave_number")
    return {"waves": [answers.answer(row) for row in kept], "next": after}


def _wave(row: dict[str, Any] | None) -> Answer:
    return {"wave": answers.answer(row) if row else None}


def router() -> Router:
    return Router("/api", tags=["agents"], route_handlers=[
        see_agent, all_agents, capacity, reset_capacity, track_tokens, create_wave, start_wave,
        next_wave, current_wave, wave_history,
    ])  # fmt: skip
