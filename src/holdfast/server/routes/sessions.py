"""Sessions, their compactions, and what each compaction lost."""

from __future__ import annotations

from typing import Annotated, cast

from litestar import Router, get
from litestar.params import PathParameter

from holdfast.errors import NotFound
from holdfast.ledger import contexts
from holdfast.ledger.repository import Ledger, Row
from holdfast.ledger.schema import (
    ACTIONS,
    AGENTS,
    CONTEXTS,
    PROJECT_PATHS,
    PROJECTS,
    REQUESTS,
    WAVES,
    Table,
)
from holdfast.server import pagination
from holdfast.server.databases import Connections
from holdfast.server.dependencies import CallerDatabases
from holdfast.server.requests import (
    Cursor,
    FolderFilter,
    Limit,
    ProjectFilter,
    RowId,
    SessionQuery,
)
from holdfast.server.responses import CompactionList, LossReport, SessionDetail, SessionList
from holdfast.server.rows import to_session, to_time
from holdfast.services.compaction import history
from holdfast.services.compaction.report import load_losses

CompactionNumber = Annotated[
    int, PathParameter(description="number of the compaction; the first is 1")
]


@get("/sessions", sync_to_thread=True)
def list_sessions(
    databases: CallerDatabases,
    limit: Limit = 50,
    page: Cursor = None,
    project_path: FolderFilter = None,
    project_id: ProjectFilter = None,
) -> SessionList:
    """List sessions whose transcripts Holdfast reads, newest first."""
    with databases.connect() as db:
        folders = _list_folders(db, project_path, project_id)
        before = pagination.parse_cursor(page)
        rows = [row for folder in folders for row in db.store.sessions(folder, limit + 1, before)]
    rows.sort(key=lambda row: (row["seen_at"], row["id"]), reverse=True)
    kept, cursor = pagination.split_page([{**row} for row in rows[: limit + 1]], limit, "seen_at")
    return {"sessions": [to_session(row) for row in kept], "next": cursor}


def _list_folders(db: Connections, path: str | None, project: str | None) -> list[str | None]:
    """Return the folders whose sessions are listed; None means all folders."""
    if project is None:
        return [path]
    known = {row["id"] for row in db.ledger.find(PROJECT_PATHS, project=project)}
    return sorted(known if path is None else known & {path})


@get("/sessions/{ident:str}", sync_to_thread=True)
def get_session(databases: CallerDatabases, ident: RowId) -> SessionDetail:
    """Get one session with its state. A session whose transcript Holdfast does not read has no
    state, only what the ledger knows of it.
    """
    with databases.connect() as db:
        row = db.store.session(ident)
        if row is None:
            return _get_session_of_ledger(db.ledger, ident)
    return cast(SessionDetail, {**to_session({**row}), "state": row["state"]})


def _get_session_of_ledger(ledger: Ledger, ident: str) -> SessionDetail:
    rows = _find_first_and_last_rows(ledger, ident)
    if not rows:
        raise NotFound(f"No session {ident} is recorded")
    project_id = next((row["project"] for row in rows if row.get("project")), "")
    project = ledger.get(PROJECTS, project_id)
    agent = ledger.find_one(AGENTS, agent_id=ident, session=ident) or {"used": 0, "capacity": 0}
    fields = {
        "id": ident, "host": None, "project_path": project["path"] if project else None,
        "started_at": to_time(min(row["created_at"] for row in rows)),
        "seen_at": to_time(max(row["updated_at"] for row in rows)), "ended_at": None,
        "context_tokens": agent["used"], "context_window": agent["capacity"],
        "total_tools_used": ledger.count(ACTIONS, session=ident), "compactions": 0, "state": None,
    }  # fmt: skip
    return cast(SessionDetail, fields)


def _find_first_and_last_rows(ledger: Ledger, session: str) -> list[Row]:
    """Return the first and the last row of a session in each table that has sessions."""
    tables: list[tuple[Table, Row]] = [
        (REQUESTS, {}), (AGENTS, {}), (ACTIONS, {}), (WAVES, {}),
        (CONTEXTS, {"agent_id": session, "agent_type": contexts.SNAPSHOT_AGENT_TYPE}),
        (CONTEXTS, {"where": f"agent_type <> '{contexts.SNAPSHOT_AGENT_TYPE}'"}),
    ]  # fmt: skip
    return [
        row
        for table, filters in tables
        for newest_first in (True, False)
        for row in ledger.find(
            table, limit=1, newest_first=newest_first, session=session, **filters
        )
    ]


@get("/compactions", sync_to_thread=True)
def list_compactions(
    databases: CallerDatabases, session_id: SessionQuery, limit: Limit = 100, page: Cursor = None
) -> CompactionList:
    """List every compaction of a session, oldest first, with the receipt of its brief."""
    with databases.connect() as db:
        session = db.store.session(session_id)
        if session is None and not _find_first_and_last_rows(db.ledger, session_id):
            raise NotFound(f"No session {session_id} is recorded")
        rows = history.list_compactions(db.store, session, session["state"]) if session else []
    kept, cursor = pagination.slice_by_number(rows, limit, page, "ordinal")
    compactions = [{**row, "at": to_time(row["at"])} for row in kept]
    return cast(CompactionList, {"compactions": compactions, "next": cursor})


@get("/compactions/{number:int}/losses", sync_to_thread=True)
def get_losses(
    databases: CallerDatabases, number: CompactionNumber, session_id: SessionQuery
) -> LossReport:
    """Get which items a summary kept, which the brief restored, which differ from the summary, and
    which are in neither.
    """
    with databases.connect() as db:
        session = db.store.session(session_id)
        if session is None:
            raise NotFound(f"No session {session_id} is recorded")
        losses = load_losses(db.store, session, session["state"], number)
    parts = losses._asdict().items() if losses else ()
    report = {
        name: [{"kind": item.kind, "line": item.line, "text": item.forms[0]} for item in items]
        for name, items in parts
    }
    return cast(LossReport, report)


def create_router() -> Router:
    return Router("/api", tags=["sessions"], route_handlers=[
        list_sessions, get_session, list_compactions, get_losses,
    ])  # fmt: skip
