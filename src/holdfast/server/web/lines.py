"""The source lines of a fact, as the log has them."""

from __future__ import annotations

from litestar import get
from litestar.response import Template

from holdfast.server.dependencies import CallerDatabases, PageSettings
from holdfast.server.web import rendering
from holdfast.server.web.session_access import Number, SessionId, require_session, title_of
from holdfast.services.recall.from_file import read_events
from holdfast.services.recall.lookup import show_lines
from holdfast.services.recall.refs import Ref

# How many lines before and after the cited one are shown.
CONTEXT_LINES = 2


@get("/sessions/{ident:str}/lines/{line:int}", sync_to_thread=True)
def show_source(
    databases: CallerDatabases, page_settings: PageSettings, ident: SessionId, line: Number
) -> Template:
    """Show what a transcript line says, and the lines around it."""
    with databases.connect() as db:
        row = require_session(db, ident)
    first, last = max(1, line - CONTEXT_LINES), line + CONTEXT_LINES
    events = [
        event
        for event in read_events(row["transcript"], last)
        if first <= event["line"] <= last and event.get("text")
    ]
    raw = show_lines(None, ident, row["transcript"], Ref(session=ident, first=line, last=line))
    return rendering.render(
        "lines.html", section="sessions", title=f"line {line}", session=ident, line=line,
        crumbs=[(title_of(row, 60), f"/sessions/{ident}")],
        events=events, raw=raw, before=max(1, line - 1), after=line + 1,
    )  # fmt: skip
