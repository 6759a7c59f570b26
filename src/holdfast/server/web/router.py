"""The routes of the page: its views, its files, and its errors as HTML."""

from __future__ import annotations

from typing import Any

from litestar import Request, Router
from litestar.exceptions import HTTPException
from litestar.response import Template
from litestar.static_files import create_static_files_router
from litestar.types import ControllerRouterHandler

from holdfast.errors import HoldfastError
from holdfast.redaction import redact
from holdfast.server import errors
from holdfast.server.web import (
    actions,
    agents,
    compaction,
    conversations,
    lines,
    live,
    now,
    palette,
    quality,
    recall,
    rendering,
    session,
    sessions,
    snapshots,
    work,
)


def create_routers() -> list[ControllerRouterHandler]:
    views = Router(
        "/",
        route_handlers=[
            now.show_now,
            sessions.list_sessions,
            session.show_session,
            session.show_chart,
            session.show_timeline,
            compaction.show_compaction,
            compaction.download_compaction,
            lines.show_source,
            snapshots.show_snapshots,
            actions.export_json,
            actions.export_markdown,
            work.show_work,
            work.show_request,
            work.show_task,
            agents.list_agents,
            agents.list_messages,
            conversations.list_conversations,
            conversations.show_conversation,
            recall.show_recall,
            palette.list_entries,
            quality.show_quality,
            quality.show_compactions,
            live.follow,
        ],
        include_in_schema=False,
        exception_handlers={HoldfastError: _show_error, HTTPException: _show_http_error},
    )
    # Scripts of the page read the errors of these, so they stay JSON.
    posts = Router(
        "/", route_handlers=[actions.save_now, actions.write_note], include_in_schema=False
    )
    files = create_static_files_router("/static", [rendering.STATIC], include_in_schema=False)
    return [views, posts, files]


def _show_error(_: Request[Any, Any, Any], problem: HoldfastError) -> Template:
    """Show an error as a page, with its hint."""
    return _render_error(errors.find_status(problem), redact(str(problem)), problem.hint)


def _show_http_error(_: Request[Any, Any, Any], problem: HTTPException) -> Template:
    return _render_error(problem.status_code, problem.detail, "")


def _render_error(status: int, detail: str, hint: str) -> Template:
    return rendering.render(
        "error.html", section="", title=detail, status_code=status, hint=hint, code=status
    )
