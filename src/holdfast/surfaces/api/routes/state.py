"""Snapshots and what agents know, and saving and restoring around a compaction."""

from __future__ import annotations

import time
from typing import Any

import msgspec
from litestar import Router, get, post
from litestar.exceptions import ValidationException
from litestar.params import FromPath, JSONBody

from holdfast.actions.shared_restore import restored
from holdfast.errors import NoSuchRecord
from holdfast.ledger import contexts, projects
from holdfast.ledger.tables import CONTEXTS, PROJECT_PATHS
from holdfast.surfaces.api import answers, cursor, named
from holdfast.surfaces.api.desk import Books
from holdfast.surfaces.api.needs import TheDesk
from holdfast.surfaces.api.rows import Answer
from holdfast.surfaces.api.shapes import (
    Filter,
    Limit,
    NewContext,
    Page,
    Restore,
    Saved,
    saved_text,
)

LONGEST_SUMMARY = 200


@post("/compact/save", sync_to_thread=True, status_code=200)
def save(desk: TheDesk, data: JSONBody[dict[str, Any]]) -> Answer:
    """Save a snapshot before a compaction: any JSON object with a `session_id`."""
    try:
        known = msgspec.convert(data, Saved)
    except msgspec.ValidationError as problem:
        raise ValidationException(str(problem)) from None
    with desk.books() as books:
        session, now = known.session_id, time.time()
        project = (
            named.project(desk, books.ledger, known.project_id)
            or _project(books, known.cwd)
            or named.of_session(desk, books, session)
        )
        row = contexts.save_snapshot(books.ledger, session, project, data, now, saved_text)
    return {"id": row["id"], "saved_at": answers.stamp(row["updated_at"])}


@post("/compact/restore", sync_to_thread=True, status_code=200)
def restore(desk: TheDesk, data: JSONBody[Restore]) -> Answer:
    """What to tell an agent after a compaction; never more than `max_tokens`."""
    with desk.books() as books:
        told = restored(books.store, books.ledger, data.wanted(), time.time(), desk.briefs)
    return {"additionalContext": told}


@get("/compact/status/{session_id:str}", sync_to_thread=True)
def status(desk: TheDesk, session_id: FromPath[str]) -> Answer:
    """Whether a session has a snapshot, and since when."""
    with desk.books() as books:
        latest = _contexts(books, session_id, contexts.SNAPSHOT, None, 1, {})
    return {
        "session_id": session_id,
        "has_snapshot": bool(latest),
        "last_saved_at": latest[0][1]["last_updated"] if latest else None,
    }


@get("/compact/snapshot/{session_id:str}", sync_to_thread=True)
def latest_snapshot(desk: TheDesk, session_id: FromPath[str]) -> Answer:
    """The latest snapshot of a session, whole."""
    with desk.books() as books:
        latest = _contexts(books, session_id, contexts.SNAPSHOT, None, 1, {})
    if not latest:
        raise NoSuchRecord(f"a snapshot of session {session_id}")
    return latest[0][1]


@post("/agent-contexts", sync_to_thread=True)
def add_context(desk: TheDesk, data: JSONBody[NewContext]) -> Answer:
    """Tell what an agent knows. The same agent, type and session are one row."""
    with desk.books() as books:
        made = contexts.save_context(
            books.ledger, time.time(), agent_id=data.agent_id, agent_type=data.agent_type,
            session=data.session_id,
            project=named.project_of_work(desk, books, data.project_id, data.session_id),
            role_context=data.role_context, skills_to_restore=data.skills_to_restore,
            tools_used=data.tools_used, progress_summary=data.progress_summary,
        )  # fmt: skip
    return answers.context(made)


@get("/agent-contexts", sync_to_thread=True)
def all_contexts(
    desk: TheDesk,
    limit: Limit = 100,
    page: Page = None,
    agent_id: Filter = None,
    agent_type: Filter = None,
    session_id: Filter = None,
    project_id: Filter = None,
) -> Answer:
    """What agents know, and what was saved. Snapshots are of the type `compact-snapshot`: in full
    if a type, an agent or a session is named, else only what they are about.
    """
    more: dict[str, Any] = {}
    if session_id is not None:
        more["session"] = session_id
    if project_id is not None:
        more["project"] = project_id
    with desk.books() as books:
        found = _contexts(books, agent_id, agent_type, cursor.read(page), limit + 1, more)
    after = None
    if len(found) > limit:
        at, last = found[limit - 1]
        after = cursor.written({"at": at, "id": last["id"]}, "at")
    kept = [one for _, one in found[:limit]]
    if agent_id is agent_type is session_id is None:
        kept = [_in_short(one) if contexts.is_snapshot(one) else one for one in kept]
    return {"contexts": kept, "next": after}


@get("/agent-contexts/{ident:str}", sync_to_thread=True)
def one_context(desk: TheDesk, ident: FromPath[str]) -> Answer:
    """One that callers saved; `holdfast snapshot show` has those that hooks save."""
    with desk.books() as books:
        return answers.context(books.ledger.need(CONTEXTS, ident))


def _in_short(snapshot: Answer) -> Answer:
    """A list of everything would be as long as all that was ever saved."""
    body = {name: snapshot["role_context"].get(name) for name in ("session_id", "trigger")}
    summary = snapshot["role_context"].get("context_summary")
    told = summary[:LONGEST_SUMMARY] if isinstance(summary, str) else ""
    return {**snapshot, "role_context": {**body, "context_summary": told}, "progress_summary": told}


def _contexts(
    books: Books,
    agent_id: str | None,
    agent_type: str | None,
    before: tuple[float, str] | None,
    most: int,
    more: dict[str, Any],
) -> list[tuple[float, Answer]]:
    """Callers' contexts and the store's own snapshots in one list, newest first, each with when it
    is from.
    """
    given = {"agent_id": agent_id, "agent_type": agent_type}
    equal: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    also = contexts.few(agent_type, more.get("project"))
    rows = books.ledger.rows(CONTEXTS, most=most, before=before, also=also, **equal, **more)
    found = [(row["updated_at"], answers.context(row)) for row in rows]
    session = more.get("session", agent_id)
    if agent_type in (None, contexts.SNAPSHOT) and agent_id in (None, session):
        found += _own_snapshots(books, session, more.get("project"), before, most)
    return sorted(found, key=lambda one: (one[0], one[1]["id"]), reverse=True)[:most]


def _own_snapshots(
    books: Books,
    session: str | None,
    project: str | None,
    before: tuple[float, str] | None,
    most: int,
) -> list[tuple[float, Answer]]:
    """The store knows folders: which project's they are stands in the ledger."""
    folders: list[str | None] = [None]
    if project is not None:
        folders = [row["id"] for row in books.ledger.rows(PROJECT_PATHS, project=project)]
    rows = [
        row
        for folder in folders
        for row in books.store.snapshots_before(session, before, most, folder)
    ]
    known = books.ledger.among(PROJECT_PATHS, "id", {row["folder"] for row in rows})
    whose = {row["id"]: row["project"] for row in known}
    return [
        (row["created_at"], answers.snapshot(row, whose.get(row["folder"], ""))) for row in rows
    ]


def _project(books: Books, cwd: str | None) -> str:
    try:
        return str(projects.by_path(books.ledger, cwd)["id"]) if cwd else ""
    except NoSuchRecord:
        return ""


def router() -> Router:
    return Router("/api", tags=["state"], route_handlers=[
        save, restore, status, latest_snapshot, add_context, all_contexts, one_context,
    ])  # fmt: skip
