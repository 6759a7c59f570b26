"""One session: its context over time, where it stands, and what happened in it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any

import msgspec
from litestar import get
from litestar.params import QueryParameter
from litestar.response import Template

from holdfast.brief.changes import describe_change
from holdfast.errors import HoldfastError
from holdfast.notes.files import read_notes
from holdfast.reports.timeline import TimelineEntry, build_timeline
from holdfast.server.dependencies import CallerDatabases, PageSettings
from holdfast.server.web import rendering
from holdfast.server.web.now import count_failing, describe_window, to_parts
from holdfast.server.web.session_access import SessionId, require_session, title_of
from holdfast.services.compaction.active_commands import COMMANDS_MARK, list_commands
from holdfast.services.compaction.autosave import suggest_compact_command
from holdfast.services.compaction.brief_inputs import find_project_with_notes
from holdfast.services.compaction.session_figures import (
    ContextHistory,
    load_context_history,
    load_status,
    load_window,
)
from holdfast.services.recall.from_file import read_events
from holdfast.settings import Settings
from holdfast.state.types import State
from holdfast.store.protocols import SessionRow

# The plan's statuses, in the order in which a checkpoint lists them.
CHECKPOINT = (("completed", "Completed"), ("in_progress", "In progress"), ("pending", "Pending"))
MAX_LISTED = 60
TIMELINE_PAGE = 200
Before = Annotated[int | None, QueryParameter(ge=1, description="entries before this line")]


@get("/sessions/{ident:str}", sync_to_thread=True)
def show_session(
    databases: CallerDatabases, page_settings: PageSettings, ident: SessionId
) -> Template:
    """Show where a session stands. Chart and timeline, which read the whole log, come later."""
    with databases.connect() as db:
        row = require_session(db, ident)
        status = load_status(db.store, row, page_settings, os.environ)
        row = require_session(db, ident)
        state = row["state"]
        handoffs = {handoff["agent"]: handoff for handoff in db.store.handoffs(ident)}
        mark = db.store.get_mark(ident, COMMANDS_MARK)
    window = load_window(row, state, page_settings)
    return rendering.render(
        "session.html",
        section="sessions",
        title=title_of(row, 60),
        crumbs=[(os.path.basename(row["project"]), "/sessions")],
        heading=title_of(row),
        session=ident,
        row=row,
        status=status,
        state=state,
        parts=to_parts(window) if window else [],
        window_text=describe_window(window) if window else "",
        tools=list(window.tools.items())[:8] if window else [],
        failing=count_failing(state),
        checkpoint=[(title, _list_plan(state, name)) for name, title in CHECKPOINT],
        rules=[rule for rule in state["rules"] if not rule["superseded"]],
        decisions=list(reversed(state["decisions"])),
        files=_list_files(state),
        checks=list(reversed(state["checks"]))[:MAX_LISTED],
        shell=list(reversed(state["shell"]))[:MAX_LISTED],
        commands=list_commands(state, mark),
        agents=[(agent, handoffs.get(agent["id"])) for agent in reversed(state["agents"])],
        notes=_read_notes(page_settings, row, ident),
        requests=list(reversed(state["requests"])),
        compact_line=suggest_compact_command(state),
    )


@get("/sessions/{ident:str}/chart", sync_to_thread=True)
def show_chart(
    databases: CallerDatabases, page_settings: PageSettings, ident: SessionId
) -> Template:
    """Show the size of the context over time, as a chart and as a table."""
    with databases.connect() as db:
        row = require_session(db, ident)
        history = load_context_history(db.store, row, row["state"], page_settings, os.environ)
    return rendering.render(
        "chart.html", section="sessions", title="Context over time", session=ident,
        history=history, chart=msgspec.json.encode(to_chart(history)).decode(),
        crumbs=[(title_of(row, 60), f"/sessions/{ident}")],
    )  # fmt: skip


@get("/sessions/{ident:str}/timeline", sync_to_thread=True)
def show_timeline(databases: CallerDatabases, ident: SessionId, before: Before = None) -> Template:
    """Show what happened, the latest first, a page at a time."""
    with databases.connect() as db:
        row = require_session(db, ident)
    entries = [*build_timeline(read_events(row["transcript"]))]
    shown = [entry for entry in entries if before is None or entry.line < before]
    page = list(reversed(shown[-TIMELINE_PAGE:]))
    more = f"/sessions/{ident}/timeline?before={page[-1].line}" if len(shown) > len(page) else ""
    return rendering.render(
        "timeline.html", section="sessions", title="Timeline", session=ident,
        crumbs=[(title_of(row, 60), f"/sessions/{ident}")],
        entries=page, more=more, prompts=_list_prompts(entries),
    )  # fmt: skip


def to_chart(history: ContextHistory) -> dict[str, Any]:
    """Return the data of the chart: by time if every point has one, else by transcript line."""
    times = [_to_seconds(point.at) for point in history.points]
    is_time = bool(times) and all(times)
    places = times if is_time else [point.line for point in history.points]
    marks = [
        {"x": _to_seconds(one["at"]) if is_time else one["line"], "kind": "compaction"}
        for one in history.compactions
        if one["line"]
    ]
    if is_time:
        marks += [{"x": saved.at, "kind": "snapshot"} for saved in history.snapshots]
    else:
        marks += [{"x": saved.line, "kind": "snapshot"} for saved in history.snapshots]
    return {
        "isTime": is_time,
        "x": places,
        "y": [point.tokens for point in history.points],
        "marks": [mark for mark in marks if mark["x"]],
        "limit": history.compacts_at or 0,
        "levels": [{"name": name, "y": tokens} for name, tokens in history.zones.items()],
    }


def _to_seconds(at: Any) -> float | None:
    """Return a time of a log as seconds since 1970, or None."""
    if isinstance(at, int | float):
        return float(at)
    try:
        return datetime.fromisoformat(str(at).replace("Z", "+00:00")).timestamp()
    except ValueError:
        return None


def _list_plan(state: State, status: str) -> list[Any]:
    return [item for item in state["plan"] if item["status"] == status]


def _list_files(state: State) -> list[dict[str, Any]]:
    """Return the files that were changed, the latest first, with what became of them."""
    changed = [
        {
            "path": path,
            "change": describe_change(trail),
            "line": trail["line"],
            "edits": trail.get("edits", 0),
            "is_open": trail.get("edits", 0) > trail.get("committed", 0),
            "purpose": trail["purposes"][-1]["text"] if trail.get("purposes") else "",
        }
        for path, trail in state["files"].items()
        if describe_change(trail)
    ]
    return list(reversed(changed))[:MAX_LISTED]


def _read_notes(settings: Settings, row: SessionRow, ident: str) -> str:
    """Return the session's notes, or "" if the project keeps none on this machine."""
    project = find_project_with_notes(settings, row["project"])
    try:
        return read_notes(project, ident) if project else ""
    except (HoldfastError, OSError):
        return ""


def _list_prompts(entries: Iterable[TimelineEntry]) -> list[TimelineEntry]:
    return [entry for entry in entries if entry.kind == "turn"]
