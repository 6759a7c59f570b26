"""Waves: tasks of a session that are done together, one wave after the other."""

from __future__ import annotations

import time
from typing import Any

from litestar import Router, get, post
from litestar.params import FromPath, JSONBody

from holdfast.ledger import waves
from holdfast.surfaces.api import answers, cursor
from holdfast.surfaces.api.needs import TheDesk
from holdfast.surfaces.api.rows import Answer
from holdfast.surfaces.api.shapes import Limit, Page, WaveNumber


def _said(data: WaveNumber | None) -> WaveNumber:
    """Nothing has to be said: then there need not be a body."""
    return data or WaveNumber()


@post("/waves/{session_id:str}/create", sync_to_thread=True)
def create_wave(
    desk: TheDesk, session_id: FromPath[str], data: JSONBody[WaveNumber | None] = None
) -> Answer:
    """Make a wave, for tasks to be added to: the next one, or the one that is named."""
    with desk.books() as books:
        return _wave(waves.create(books.ledger, session_id, _said(data).wave_number, time.time()))


@post("/waves/{session_id:str}/start", sync_to_thread=True, status_code=200)
def start_wave(
    desk: TheDesk, session_id: FromPath[str], data: JSONBody[WaveNumber | None] = None
) -> Answer:
    """Start a wave: the first that has not begun, or the one that is named."""
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
    """The wave that runs, else the first that has yet to, else the last one."""
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
    return Router(
        "/api",
        tags=["waves"],
        route_handlers=[create_wave, start_wave, next_wave, current_wave, wave_history],
    )
