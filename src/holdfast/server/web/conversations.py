"""Conversations of SessionManager: how full they are, their checkpoints, events and costs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from litestar import get
from litestar.params import QueryParameter
from litestar.response import Template

from holdfast.server import pagination
from holdfast.server.dependencies import CallerDatabases
from holdfast.server.requests import Cursor, RowId
from holdfast.server.web import rendering
from holdfast.services import conversations as service
from holdfast.services.conversations import ConversationFigures

if TYPE_CHECKING:
    from holdfast.conversations.store import ConversationStore

PAGE_SIZE = 50
SHOWN_VERSIONS, SHOWN_EVENTS, SHOWN_EXPENSES = 12, 60, 30
# The lists of a checkpoint, in the order in which they are shown.
LISTS = (
    ("completed", "Completed"), ("in_progress", "In progress"), ("pending", "Pending"),
    ("blockers", "Blockers"), ("decisions", "Decisions"), ("constraints", "Rules of the user"),
)  # fmt: skip
# The colour and the word for each kind of event.
EVENT_LABELS = {
    "compaction-start": ("restored", "start"), "compaction-progress": ("", "progress"),
    "compaction-complete": ("kept", "complete"), "compaction-error": ("lost", "error"),
    "spend-refused": ("differs", "too costly"), "limit-warning": ("differs", "warning"),
}  # fmt: skip
Version = Annotated[int | None, QueryParameter(ge=1, le=service.MAX_VERSION, description="version")]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventView:
    color: str
    label: str
    text: str
    happened_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointView:
    """One version of the checkpoint, and those near it."""

    figures: service.CheckpointVersion
    lists: list[tuple[str, list[tuple[str, bool]]]]
    """Titles with items, and whether an item is not in the version before."""
    versions: list[service.CheckpointVersion]


@get("/conversations", sync_to_thread=True)
def list_conversations(databases: CallerDatabases, page: Cursor = None) -> Template:
    """List the conversations, the latest first."""
    before = pagination.parse_cursor(page)
    with databases.open_conversations() as store:
        found = service.list_conversations(store, PAGE_SIZE + 1, time.time(), before)
    rows = [{"id": one.id, "updated_at": one.updated_at, "figures": one} for one in found]
    kept, cursor = pagination.split_page(rows, PAGE_SIZE, "updated_at")
    return rendering.render(
        "conversations.html", section="conversations", title="Conversations",
        conversations=[(row["figures"], to_parts(row["figures"])) for row in kept],
        next_path=rendering.make_next_path("/conversations", cursor),
    )  # fmt: skip


@get("/conversations/{ident:str}", sync_to_thread=True)
def show_conversation(
    databases: CallerDatabases, ident: RowId, version: Version = None
) -> Template:
    """Show one conversation with a version of its checkpoint, by default the newest."""
    with databases.open_conversations() as store:
        found = service.get_conversation(store, ident, time.time())
        checkpoint = load_checkpoint(store, found, version)
        events = service.list_events(store, ident, SHOWN_EVENTS)
        expenses = service.list_expenses_of(store, found, SHOWN_EXPENSES)
    return rendering.render(
        "conversation.html", section="conversations", title=found.name,
        crumbs=[("Conversations", "/conversations")], conversation=found, parts=to_parts(found),
        warning=describe_warning(found), checkpoint=checkpoint,
        events=[to_event(event) for event in events], expenses=expenses,
    )  # fmt: skip


def load_checkpoint(
    store: ConversationStore, conversation: ConversationFigures, version: int | None
) -> CheckpointView | None:
    """Return a version of the checkpoint, or None if there is none yet. Raises NotFound if there is
    no such version.
    """
    shown = version or conversation.checkpoint_version
    if not shown:
        return None
    content = service.get_checkpoint(store, conversation.id, shown)
    near = service.list_versions(
        store, conversation.id, SHOWN_VERSIONS, before=shown + SHOWN_VERSIONS // 2
    )
    before = [one for one in near if one.version < shown]
    known = (
        service.get_checkpoint(store, conversation.id, before[0].version).as_dict()
        if before
        else {}
    )
    lists = [
        (
            title,
            [(item, bool(before) and item not in known[name]) for item in getattr(content, name)],
        )
        for name, title in LISTS
    ]
    figures = next(one for one in near if one.version == shown)
    return CheckpointView(figures=figures, lists=lists, versions=near)


def to_parts(conversation: ConversationFigures) -> list[tuple[str, float]]:
    """Return the tokens of the next request by the names that the gauge has colours for."""
    tokens = conversation.tokens
    return [
        ("rest", tokens.agent_description),
        ("files", tokens.project_context),
        ("tools", tokens.checkpoint),
        ("talk", tokens.messages),
    ]


def describe_warning(conversation: ConversationFigures) -> str:
    """Return what happens soon, or "" while there is room."""
    if conversation.level == "full":
        return "the next request compacts it"
    if conversation.level == "warning":
        left = rendering.format_count(conversation.tokens_left)
        return f"nearly full: compacted after {left} more tokens"
    return ""


def to_event(event: service.ConversationEvent) -> EventView:
    color, label = EVENT_LABELS.get(event.kind, ("", event.kind))
    return EventView(
        color=color, label=label, text=describe_event(event.kind, event.detail),
        happened_at=event.happened_at,
    )  # fmt: skip


def describe_event(kind: str, detail: Mapping[str, Any]) -> str:
    """Return an event in words; what its detail does not say is left out."""
    values = {
        name: rendering.format_count(value) if isinstance(value, int | float) else str(value)
        for name, value in detail.items()
    }
    if kind not in EVENT_TEXTS:
        return " ".join(f"{name} {value}" for name, value in values.items())
    texts = EVENT_TEXTS[kind].items()
    return " ".join(text.format(values[name]) for name, text in texts if name in values)


# What is said of an event, by the keys of its detail.
EVENT_TEXTS = {
    "compaction-start": {
        "messages": "messages: {}", "estimated_tokens": "· tokens of the request: {}",
    },
    "compaction-progress": {"attempt": "attempt {}", "summarizer": "with {}"},
    "compaction-complete": {
        "checkpoint_version": "checkpoint {}", "made_by": "by {}",
        "messages_compacted": "· messages: {}", "tokens_reclaimed": "· tokens reclaimed: {}",
        "items_left_out": "· old items left out: {}",
    },
    "compaction-error": {
        "error": "{}", "attempt": "· attempt {}", "fallback": "· if all attempts fail: {}",
    },
    "spend-refused": {"error": "{}", "fallback": "· instead: {}"},
    "limit-warning": {
        "tokens": "{}", "limit": "of {} tokens", "headroom": "· left until a compaction: {}",
    },
}  # fmt: skip
