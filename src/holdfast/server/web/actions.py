"""What a person can do with a session from its page: save it, add a note, export it."""

from __future__ import annotations

import time
from typing import Annotated, Any

import msgspec
from litestar import MediaType, Response, get, post
from litestar.params import Body

from holdfast.errors import Conflict, InvalidInput
from holdfast.notes.files import NotesUnusable, add_note
from holdfast.redaction import redact, redact_json
from holdfast.server.dependencies import CallerDatabases
from holdfast.server.web import rendering
from holdfast.server.web.session_access import SessionId, require_session, title_of
from holdfast.services.compaction.autosave import save_snapshot, suggest_compact_command
from holdfast.services.sessions import refresh_session
from holdfast.state.types import State

MAX_NOTE_CHARS = 5000
NOTE_KINDS = ("note", "decision", "blocker", "next", "unblocked")
# The parts of a state in an export, with their headings.
EXPORTED = {
    "requests": "Asked",
    "rules": "Rules of the user",
    "plan": "Plan",
    "decisions": "Decided",
    "checks": "Checks",
    "commits": "Commits",
    "shell": "Commands",
}


class NewNote(msgspec.Struct, forbid_unknown_fields=True):
    """A note that is added from the page."""

    text: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_NOTE_CHARS)]
    kind: str = "note"


@post("/sessions/{ident:str}/save", sync_to_thread=True)
def save_now(databases: CallerDatabases, ident: SessionId) -> dict[str, str]:
    """Take a snapshot; answer with its id and a line that compacts with the right focus."""
    with databases.connect() as db:
        row = require_session(db, ident)
        session = refresh_session(db.store, row)
        db.store.begin()
        snapshot = save_snapshot(db.store, session, "page", time.time())
        db.store.commit()
    return {"snapshot": snapshot, "compact": suggest_compact_command(session.state)}


@post("/sessions/{ident:str}/notes", sync_to_thread=True)
def write_note(
    databases: CallerDatabases, ident: SessionId, data: Annotated[NewNote, Body()]
) -> dict[str, str]:
    """Add a note to the session's notes; raises Conflict if its project keeps none here."""
    if data.kind not in NOTE_KINDS:
        raise InvalidInput(f"A note is one of: {', '.join(NOTE_KINDS)}")
    with databases.connect() as db:
        row = require_session(db, ident)
        state = refresh_session(db.store, row).state
        db.store.begin()
        try:
            path = add_note(
                db.store, ident, state, row["project"], data.text, data.kind, time.time()
            )
        except NotesUnusable as problem:
            raise Conflict(str(problem), hint=problem.hint) from None
        db.store.commit()
    return {"notes": path}


@get("/sessions/{ident:str}/export.json", sync_to_thread=True)
def export_json(databases: CallerDatabases, ident: SessionId) -> Response[bytes]:
    """Send everything that is known of a session as JSON."""
    with databases.connect() as db:
        row = require_session(db, ident)
    kept = {name: row[name] for name in ("id", "host", "project", "started_at", "seen_at")}
    text = redact_json(msgspec.json.encode({**kept, "state": row["state"]}).decode())
    return _send(text.encode(), MediaType.JSON, f"session-{ident[:8]}.json")


@get("/sessions/{ident:str}/export.md", sync_to_thread=True)
def export_markdown(databases: CallerDatabases, ident: SessionId) -> Response[bytes]:
    """Send where a session stands as Markdown, to read or to paste."""
    with databases.connect() as db:
        row = require_session(db, ident)
    text = redact(render_markdown(title_of(row), row["state"]))
    return _send(text.encode(), "text/markdown", f"session-{ident[:8]}.md")


def render_markdown(title: str, state: State) -> str:
    """Return the main parts of a state as Markdown lists, each entry with its transcript line."""
    lines = [f"# {rendering.clean(title)}", ""]
    for key, heading in EXPORTED.items():
        entries: list[Any] = state[key]  # type: ignore[literal-required]
        if entries:
            lines += [f"## {heading}", "", *(f"- {_render_entry(one)}" for one in entries), ""]
    return "\n".join(lines)


def _render_entry(entry: dict[str, Any]) -> str:
    text = entry.get("text") or entry.get("command") or entry.get("subject") or ""
    status = entry.get("status") or (
        "" if "ok" not in entry else "passed" if entry["ok"] else "failed"
    )
    shown = " ".join(rendering.clean(text).split())
    return f"{shown}{f' ({status})' if status else ''} (L{entry['line']})"


def _send(content: bytes, media_type: str, name: str) -> Response[bytes]:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=media_type, headers=headers)
