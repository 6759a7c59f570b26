"""Save before and restore after a compaction; snapshots and contexts of agents."""

from __future__ import annotations

import time
from typing import Any

import msgspec
from litestar import Router, get, post
from litestar.exceptions import ValidationException
from litestar.params import JSONBody

from holdfast.errors import NotFound
from holdfast.ledger import contexts
from holdfast.ledger.schema import CONTEXTS, PROJECT_PATHS
from holdfast.server import pagination
from holdfast.server.databases import Connections
from holdfast.server.dependencies import CallerDatabases
from holdfast.server.requests import (
    AgentFilter,
    AgentTypeFilter,
    ContextToRestore,
    Cursor,
    Limit,
    NewContext,
    ProjectFilter,
    RowId,
    SessionFilter,
    SessionPath,
    SnapshotToSave,
)
from holdfast.server.responses import (
    ContextList,
    ContextRow,
    RestoredContext,
    SavedSnapshot,
    SnapshotStatus,
)
from holdfast.server.rows import to_context, to_snapshot_context, to_time
from holdfast.services.compaction.shared_context import RestoreRequest, build_shared_brief

MAX_SUMMARY_CHARS = 200


def _to_json(snapshot: dict[str, Any]) -> str:
    return msgspec.json.encode(snapshot).decode()


@post("/compact/save", sync_to_thread=True, status_code=200, body_type=SnapshotToSave)
def save(databases: CallerDatabases, data: JSONBody[dict[str, Any]]) -> SavedSnapshot:
    """Save a snapshot before a compaction: any JSON object with a `session_id`."""
    try:
        known = msgspec.convert(data, SnapshotToSave)
    except msgspec.ValidationError as problem:
        raise ValidationException(str(problem)) from None
    session, now = known.session_id, time.time()
    with databases.connect() as db:
        project = db.find_project(known.project_id, session, folder=known.cwd or "")
    row = databases.write(
        lambda db: contexts.save_snapshot(db.ledger, session, project, data, now, _to_json)
    )
    return {"id": row["id"], "saved_at": to_time(row["updated_at"])}


@post("/compact/restore", sync_to_thread=True, status_code=200)
def restore(databases: CallerDatabases, data: JSONBody[ContextToRestore]) -> RestoredContext:
    """Get the text to give to an agent after a compaction, at most `max_tokens` long."""
    request = RestoreRequest(data.session_id, data.agent_id, data.agent_type, data.max_tokens)
    with databases.connect() as db:
        brief = build_shared_brief(db.store, db.ledger, request, time.time())
    return {"additionalContext": brief}


@get("/compact/status/{session_id:str}", sync_to_thread=True)
def get_snapshot_status(databases: CallerDatabases, session_id: SessionPath) -> SnapshotStatus:
    """Get whether a session has a snapshot, and when the latest was saved."""
    with databases.connect() as db:
        latest = _find_contexts(db, session_id, contexts.SNAPSHOT_AGENT_TYPE, None, 1, {})
    return {
        "session_id": session_id,
        "has_snapshot": bool(latest),
        "last_saved_at": latest[0][1]["last_updated"] if latest else None,
    }


@get("/compact/snapshot/{session_id:str}", sync_to_thread=True)
def get_latest_snapshot(databases: CallerDatabases, session_id: SessionPath) -> ContextRow:
    """Get the latest snapshot of a session, complete."""
    with databases.connect() as db:
        latest = _find_contexts(db, session_id, contexts.SNAPSHOT_AGENT_TYPE, None, 1, {})
    if not latest:
        raise NotFound(f"No snapshot of session {session_id}")
    return latest[0][1]


@post("/agent-contexts", sync_to_thread=True)
def save_context(databases: CallerDatabases, data: JSONBody[NewContext]) -> ContextRow:
    """Save what an agent knows. There is one row for an agent, a type and a session."""
    with databases.connect() as db:
        row = contexts.save_context(
            db.ledger, time.time(), agent_id=data.agent_id, agent_type=data.agent_type,
            session=data.session_id,
            project=db.find_project(data.project_id, data.session_id),
            role_context=data.role_context, skills_to_restore=data.skills_to_restore,
            tools_used=data.tools_used, progress_summary=data.progress_summary,
        )  # fmt: skip
    return to_context(row)


@get("/agent-contexts", sync_to_thread=True)
def list_contexts(
    databases: CallerDatabases,
    limit: Limit = 100,
    page: Cursor = None,
    agent_id: AgentFilter = None,
    agent_type: AgentTypeFilter = None,
    session_id: SessionFilter = None,
    project_id: ProjectFilter = None,
) -> ContextList:
    """List contexts of agents and snapshots, newest first. Snapshots have the type
    `compact-snapshot`. They are complete if a type, an agent or a session is given; otherwise only
    a summary of each is listed.
    """
    filters: dict[str, Any] = {}
    if session_id is not None:
        filters["session"] = session_id
    if project_id is not None:
        filters["project"] = project_id
    before = pagination.parse_cursor(page)
    with databases.connect() as db:
        found = _find_contexts(db, agent_id, agent_type, before, limit + 1, filters)
    cursor = None
    if len(found) > limit:
        at, last = found[limit - 1]
        cursor = pagination.to_cursor({"at": at, "id": last["id"]}, "at")
    kept = [row for _, row in found[:limit]]
    if agent_id is agent_type is session_id is None:
        kept = [_summarize(row) if contexts.is_snapshot(row) else row for row in kept]
    return {"contexts": kept, "next": cursor}


@get("/agent-contexts/{ident:str}", sync_to_thread=True)
def get_context(databases: CallerDatabases, ident: RowId) -> ContextRow:
    """Get one context that was saved through this API. `holdfast snapshot show` prints snapshots
    that hooks saved.
    """
    with databases.connect() as db:
        return to_context(db.ledger.require(CONTEXTS, ident))


def _summarize(snapshot: ContextRow) -> ContextRow:
    """Return a snapshot with an excerpt of its summary only: complete snapshots would make a list
    of all contexts too long.
    """
    saved = snapshot["role_context"]
    summary = saved.get("context_summary")
    excerpt = summary[:MAX_SUMMARY_CHARS] if isinstance(summary, str) else ""
    about = {"session_id": saved.get("session_id"), "trigger": saved.get("trigger")}
    return {
        **snapshot,
        "role_context": {**about, "context_summary": excerpt},
        "progress_summary": excerpt,
    }


def _find_contexts(
    db: Connections,
    agent_id: str | None,
    agent_type: str | None,
    before: tuple[float, str] | None,
    limit: int,
    filters: dict[str, Any],
) -> list[tuple[float, ContextRow]]:
    """Return contexts of the ledger and snapshots of the store in one list, newest first, each with
    its time.
    """
    agent = {"agent_id": agent_id, "agent_type": agent_type}
    given: dict[str, Any] = {name: value for name, value in agent.items() if value is not None}
    where = contexts.build_partial_index_condition(agent_type, filters.get("project"))
    rows = db.ledger.find(CONTEXTS, limit=limit, before=before, where=where, **given, **filters)
    found = [(row["updated_at"], to_context(row)) for row in rows]
    session = filters.get("session", agent_id)
    if agent_type in (None, contexts.SNAPSHOT_AGENT_TYPE) and agent_id in (None, session):
        found += _find_store_snapshots(db, session, filters.get("project"), before, limit)
    return sorted(found, key=lambda item: (item[0], item[1]["id"]), reverse=True)[:limit]


def _find_store_snapshots(
    db: Connections,
    session: str | None,
    project: str | None,
    before: tuple[float, str] | None,
    limit: int,
) -> list[tuple[float, ContextRow]]:
    """Return snapshots of the store, each with its time. The store knows only the folder of a
    session; the ledger knows which project the folder belongs to.
    """
    folders: list[str | None] = [None]
    if project is not None:
        folders = [row["id"] for row in db.ledger.find(PROJECT_PATHS, project=project)]
    rows = [
        row
        for folder in folders
        for row in db.store.snapshots_before(session, before, limit, folder)
    ]
    paths = db.ledger.find_in(PROJECT_PATHS, "id", {row["folder"] for row in rows})
    projects = {row["id"]: row["project"] for row in paths}
    return [
        (row["created_at"], to_snapshot_context(row, projects.get(row["folder"], "")))
        for row in rows
    ]


def create_router() -> Router:
    return Router("/api", tags=["state"], route_handlers=[
        save, restore, get_snapshot_status, get_latest_snapshot, save_context, list_contexts,
        get_context,
    ])  # fmt: skip
