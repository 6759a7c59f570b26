"""Sessions, their compactions, and what those lost."""

from __future__ import annotations

from litestar import Router, get
from litestar.params import FromPath, FromQuery

from holdfast.actions import compaction_log
from holdfast.errors import NoSuchRecord
from holdfast.ledger import contexts
from holdfast.ledger.ledger import Ledger, Row
from holdfast.ledger.tables import (
    ACTIONS,
    AGENTS,
    CONTEXTS,
    PROJECT_PATHS,
    PROJECTS,
    REQUESTS,
    WAVES,
    Table,
)
from holdfast.store.base import SessionRow
from holdfast.surfaces.api import answers, cursor
from holdfast.surfaces.api.desk import Books
from holdfast.surfaces.api.needs import TheDesk
from holdfast.surfaces.api.rows import Answer
from holdfast.surfaces.api.shapes import Filter, Ident, Limit, Page


@get("/sessions", sync_to_thread=True)
def all_sessions(
    desk: TheDesk,
    limit: Limit = 50,
    page: Page = None,
    project_path: Filter = None,
    project_id: Filter = None,
) -> Answer:
    """Sessions whose logs are read, the latest first."""
    with desk.books() as books:
        folders = _folders(books, project_path, project_id)
        before = cursor.read(page)
        found = [row for one in folders for row in books.store.sessions(one, limit + 1, before)]
    found.sort(key=lambda row: (row["seen_at"], row["id"]), reverse=True)
    kept, after = cursor.page([{**row} for row in found[: limit + 1]], limit, "seen_at")
    return {"sessions": [answers.session(row) for row in kept], "next": after}


def _folders(books: Books, path: str | None, project: str | None) -> list[str | None]:
    """Where to look: nothing means everywhere."""
    if project is None:
        return [path]
    known = {row["id"] for row in books.ledger.rows(PROJECT_PATHS, project=project)}
    return sorted(known if path is None else known & {path})


@get("/sessions/{ident:str}", sync_to_thread=True)
def one_session(desk: TheDesk, ident: FromPath[str]) -> Answer:
    """One session with its state; of one whose log is not read, what callers told of it."""
    with desk.books() as books:
        row = books.store.session(ident)
        if row is None:
            return _told_of(books.ledger, ident)
    return {**answers.session({**row}), "state": row["state"]}


def _told_of(ledger: Ledger, ident: str) -> Answer:
    rows = _traces(ledger, ident)
    if not rows:
        raise NoSuchRecord(f"session {ident}")
    project = next((row["project"] for row in rows if row.get("project")), "")
    folder = ledger.get(PROJECTS, project)
    agent = ledger.first(AGENTS, agent_id=ident, session=ident) or {"used": 0, "capacity": 0}
    return {
        "id": ident, "host": None, "project_path": folder["path"] if folder else None,
        "started_at": answers.stamp(min(row["created_at"] for row in rows)),
        "seen_at": answers.stamp(max(row["updated_at"] for row in rows)), "ended_at": None,
        "context_tokens": agent["used"], "context_window": agent["capacity"],
        "total_tools_used": ledger.count(ACTIONS, session=ident), "compactions": 0, "state": None,
    }  # fmt: skip


def _traces(ledger: Ledger, session: str) -> list[Row]:
    """The first and the last that anybody has told of it, of every kind."""
    places: list[tuple[Table, Row]] = [
        (REQUESTS, {}), (AGENTS, {}), (ACTIONS, {}), (WAVES, {}),
        (CONTEXTS, {"agent_id": session, "agent_type": contexts.SNAPSHOT}),
        (CONTEXTS, {"also": f"agent_type <> '{contexts.SNAPSHOT}'"}),
    ]  # fmt: skip
    return [
        row
        for table, more in places
        for newest_first in (True, False)
        for row in ledger.rows(table, most=1, newest_first=newest_first, session=session, **more)
    ]


@get("/compactions", sync_to_thread=True)
def compactions(
    desk: TheDesk, session_id: FromQuery[Ident], limit: Limit = 100, page: Page = None
) -> Answer:
    """Every compaction of a session, the first one first, with the receipt of its brief."""
    with desk.books() as books:
        row = books.store.session(session_id)
        if row is None and not _traces(books.ledger, session_id):
            raise NoSuchRecord(f"session {session_id}")
        found = compaction_log.entries(books.store, row, row["state"]) if row else []
    kept, after = cursor.part(found, limit, page, "ordinal")
    told = [{**one, "at": answers.stamp(one["at"])} for one in kept]
    return {"compactions": told, "next": after}


@get("/compactions/{number:int}/losses", sync_to_thread=True)
def losses(desk: TheDesk, number: FromPath[int], session_id: FromQuery[Ident]) -> Answer:
    """What a summary kept, what the brief put back, and what is in neither."""
    with desk.books() as books:
        row = _session(books, session_id)
        found = compaction_log.Report(books.store, row, row["state"], number).losses()
    parts = found._asdict().items() if found else ()
    return {
        name: [{"kind": item.kind, "line": item.line, "text": item.forms[0]} for item in items]
        for name, items in parts
    }


def _session(books: Books, ident: str) -> SessionRow:
    row = books.store.session(ident)
    if row is None:
        raise NoSuchRecord(f"session {ident}")
    return row


def router() -> Router:
    return Router(
        "/api", tags=["sessions"], route_handlers=[all_sessions, one_session, compactions, losses]
    )
