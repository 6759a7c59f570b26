"""Waves: groups of a session's tasks that run one after the other."""

from __future__ import annotations

import time

from litestar import Router, get, post
from litestar.params import JSONBody

from holdfast.ledger import waves
from holdfast.ledger.repository import Row
from holdfast.server import pagination
from holdfast.server.dependencies import CallerDatabases
from holdfast.server.requests import Cursor, Limit, SessionPath, WaveSelection
from holdfast.server.responses import CurrentWave, WaveList, WaveRow
from holdfast.server.rows import to_response

# All fields have defaults, so the body may be missing.
OptionalSelection = JSONBody[WaveSelection | None]


@post("/waves/{session_id:str}/create", sync_to_thread=True)
def create_wave(
    databases: CallerDatabases, session_id: SessionPath, data: OptionalSelection = None
) -> CurrentWave:
    """Create a wave: the next one, or the one in `wave_number`."""
    number = data.wave_number if data else None
    with databases.connect() as db:
        return _to_wave(waves.create_wave(db.ledger, session_id, number, time.time()))


@post("/waves/{session_id:str}/start", sync_to_thread=True, status_code=200)
def start_wave(
    databases: CallerDatabases, session_id: SessionPath, data: OptionalSelection = None
) -> CurrentWave:
    """Start a wave: the first that has not begun, or the one in `wave_number`."""
    number = data.wave_number if data else None
    with databases.connect() as db:
        return _to_wave(waves.start_wave(db.ledger, session_id, number, time.time()))


@post("/waves/{session_id:str}/transition", sync_to_thread=True, status_code=200)
def start_next_wave(
    databases: CallerDatabases, session_id: SessionPath, data: OptionalSelection = None
) -> CurrentWave:
    """End the running wave and start the next, or the one in `wave_number`. If tasks of the running
    wave are still open, this needs `force`.
    """
    selection = data or WaveSelection()
    with databases.connect() as db:
        row = waves.transition_wave(
            db.ledger, session_id, time.time(), number=selection.wave_number, force=selection.force
        )
    return _to_wave(row)


@get("/waves/{session_id:str}/current", sync_to_thread=True)
def get_current_wave(databases: CallerDatabases, session_id: SessionPath) -> CurrentWave:
    """Get the running wave, else the first that has not begun, else the last one."""
    with databases.connect() as db:
        return _to_wave(waves.find_current_wave(db.ledger, session_id))


@get("/waves/{session_id:str}/history", sync_to_thread=True)
def list_waves(
    databases: CallerDatabases, session_id: SessionPath, limit: Limit = 100, page: Cursor = None
) -> WaveList:
    """List all waves of a session, in order."""
    with databases.connect() as db:
        rows = waves.list_waves(db.ledger, session_id)
    kept, cursor = pagination.slice_by_number(rows, limit, page, "wave_number")
    return {"waves": [to_response(row, WaveRow) for row in kept], "next": cursor}


def _to_wave(row: Row | None) -> CurrentWave:
    return {"wave": to_response(row, WaveRow) if row else None}


def create_router() -> Router:
    return Router(
        "/api",
        tags=["waves"],
        route_handlers=[create_wave, start_wave, start_next_wave, get_current_wave, list_waves],
    )
