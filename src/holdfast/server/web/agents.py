"""Agents with their capacity, and the messages between them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from litestar import get
from litestar.response import Template

from holdfast.ledger import agents, messages
from holdfast.ledger.repository import Ledger, Row
from holdfast.ledger.schema import AGENTS, BLOCKINGS, MESSAGES
from holdfast.server import pagination
from holdfast.server.dependencies import CallerDatabases
from holdfast.server.requests import Cursor, ProjectFilter
from holdfast.server.web import rendering
from holdfast.services.message_digest import message_text

PAGE_SIZE = 50
# The rate of an idle agent decays: a prediction for the distant future says nothing.
MAX_PREDICTED_MINUTES = 120
CRUMBS = [("Work", "/work")]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentView:
    """An agent, how full its window is, and what it waits for."""

    row: Row
    capacity: Row
    waits_for: list[Row]

    @property
    def title(self) -> str:
        """What it is: its type, or its id if it has none."""
        return str(self.row["agent_type"] or self.row["agent_id"])

    @property
    def share(self) -> float:
        """The width of its bar in per cent."""
        return min(100.0, max(0.0, float(self.capacity["usage_percent"])))

    @property
    def prediction(self) -> str:
        """When its window will be full; "" if that is not soon."""
        minutes = self.capacity["predicted_exhaustion_minutes"]
        if minutes is None or minutes > MAX_PREDICTED_MINUTES:
            return ""
        if minutes < 1:
            return "full within a minute"
        return f"full in about {rendering.format_plural(round(minutes), 'minute')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageView:
    """A message and which agents have read it."""

    row: Row
    text: str
    readers: list[str]

    @property
    def read_state(self) -> str:
        """`unread`, `read`, or by how many agents a message to all was read."""
        if not self.readers:
            return "unread"
        is_for_all = not self.row["to_agent_id"]
        return f"read by {len(self.readers)}" if is_for_all else "read"


@get("/work/agents", sync_to_thread=True)
def list_agents(
    databases: CallerDatabases, page: Cursor = None, project: ProjectFilter = None
) -> Template:
    """List all agents, the one that was heard of last first."""
    before = pagination.parse_cursor(page)
    with databases.connect() as db:
        shown, cursor = load_agents(db.ledger, PAGE_SIZE, time.time(), before, project)
    return rendering.render(
        "agents.html", section="work", title="Agents", crumbs=CRUMBS, agents=shown,
        next_path=rendering.make_next_path("/work/agents", cursor, project=project),
    )  # fmt: skip


@get("/work/messages", sync_to_thread=True)
def list_messages(
    databases: CallerDatabases, page: Cursor = None, project: ProjectFilter = None
) -> Template:
    """List the messages that have not expired, the newest first."""
    before = pagination.parse_cursor(page)
    with databases.connect() as db:
        shown, cursor = load_messages(db.ledger, PAGE_SIZE, time.time(), before, project)
    return rendering.render(
        "messages.html", section="work", title="Messages", crumbs=CRUMBS, messages=shown,
        next_path=rendering.make_next_path("/work/messages", cursor, project=project),
    )  # fmt: skip


def load_agents(
    ledger: Ledger,
    limit: int,
    now: float,
    before: tuple[float, str] | None = None,
    project: str | None = None,
) -> tuple[list[AgentView], str | None]:
    """Return a page of agents and the cursor of the next one."""
    rows = ledger.find(AGENTS, limit=limit + 1, before=before, **_to_filter(project))
    kept, cursor = pagination.split_page(rows, limit, AGENTS.order_column)
    waits: dict[str, list[Row]] = {}
    for row in ledger.find_in(BLOCKINGS, "blocked_id", {agent["agent_id"] for agent in kept}):
        waits.setdefault(row["blocked_id"], []).append(row)
    views = [
        AgentView(
            row=row,
            capacity=agents.describe_capacity(row, now),
            waits_for=[
                other
                for other in waits.get(row["agent_id"], [])
                if other["project"] in ("", row["project"])
            ],
        )
        for row in kept
    ]
    return views, cursor


def load_messages(
    ledger: Ledger,
    limit: int,
    now: float,
    before: tuple[float, str] | None = None,
    project: str | None = None,
) -> tuple[list[MessageView], str | None]:
    """Return a page of messages and the cursor of the next one."""
    rows = messages.list_recent(ledger, now, limit + 1, before, **_to_filter(project))
    kept, cursor = pagination.split_page(rows, limit, MESSAGES.order_column)
    readers = messages.find_readers(ledger, kept)
    views = [
        MessageView(row=row, text=message_text(row), readers=readers[row["id"]]) for row in kept
    ]
    return views, cursor


def _to_filter(project: str | None) -> dict[str, Any]:
    return {"project": project} if project else {}
