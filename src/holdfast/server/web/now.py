"""Now: the live sessions of all projects as cards, the most urgent first."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

from litestar import get
from litestar.response import Template

from holdfast.reports.window import WindowContents
from holdfast.server.databases import Connections
from holdfast.server.dependencies import CallerDatabases, PageSettings
from holdfast.server.web import rendering
from holdfast.services.compaction.session_figures import SessionStatus, load_status, load_window
from holdfast.settings import Settings
from holdfast.state.types import State
from holdfast.store.protocols import SessionRow

# A session that was not heard of for longer is not live.
LIVE_SECONDS = 24 * 3600.0
MAX_CARDS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One live session."""

    status: SessionStatus
    project: str
    branch: str
    doing: str
    request: str
    parts: list[tuple[str, float]]
    """What fills the window: names and tokens."""
    details: str
    """The same in words, with the tools that fill most."""
    failing: int

    @property
    def urgency(self) -> tuple[bool, float, float]:
        return bool(self.status.alarm), self.status.percent or 0.0, self.status.seen_at

    @property
    def receipt(self) -> str:
        last = self.status.compactions[-1:]
        return str(last[0]["receipt"] or "") if last else ""


@get("/", sync_to_thread=True)
def show_now(databases: CallerDatabases, page_settings: PageSettings) -> Template:
    """Show the sessions that were active within a day."""
    now = time.time()
    with databases.connect() as db:
        rows = [
            row
            for row in db.store.sessions(None, MAX_CARDS)
            if not row["ended_at"] and now - row["seen_at"] < LIVE_SECONDS
        ]
        cards = [make_card(db, row, page_settings) for row in rows]
    cards.sort(key=lambda card: card.urgency, reverse=True)
    return rendering.render("now.html", section="now", title="Now", cards=cards)


def make_card(db: Connections, row: SessionRow, settings: Settings) -> Card:
    """Read a session to its end and describe it."""
    status = load_status(db.store, row, settings, os.environ)
    state = (db.store.session(row["id"]) or row)["state"]
    window = load_window(row, state, settings)
    running = [item["text"] for item in state["plan"] if item["status"] == "in_progress"]
    return Card(
        status=status,
        project=os.path.basename(row["project"]) or row["project"],
        branch=state["branch"],
        doing=running[-1] if running else "",
        request=state["requests"][-1]["text"] if state["requests"] else "",
        parts=to_parts(window) if window else [("rest", status.context_tokens or 0)],
        details=describe_window(window) if window else "",
        failing=count_failing(state),
    )


def to_parts(window: WindowContents) -> list[tuple[str, float]]:
    """Return what fills the window in four parts, in the order of the gauge."""
    talk = window.user + window.assistant + window.calls + window.summary
    rest = (window.system or 0) + (window.rest or 0)
    return [
        ("tools", sum(window.tools.values())),
        ("files", window.files),
        ("talk", talk),
        ("rest", rest),
    ]


def describe_window(window: WindowContents) -> str:
    """Return the shares in per cent of what is in the window, and the largest tool."""
    names = {"tools": "tool output", "files": "files", "talk": "conversation", "rest": "system"}
    shares = [
        f"{names[name]} {round(100 * tokens / window.tokens)} %"
        for name, tokens in to_parts(window)
        if window.tokens and tokens > 0
    ]
    largest = next(iter(window.tools), "")
    return " · ".join(shares) + (f" · most by {largest}" if largest else "")


def count_failing(state: State) -> int:
    """Return how many tests, builds and linters failed in their last run."""
    return sum(not check["ok"] and check["kind"] != "run" for check in state["checks"])
