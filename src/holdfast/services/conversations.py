"""The conversations of SessionManager on this machine: how full they are, their checkpoints, events
and costs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from holdfast.conversations.budget import MESSAGE_OVERHEAD_TOKENS, TokenCounter
from holdfast.conversations.checkpoint import Checkpoint, NotACheckpoint
from holdfast.conversations.cost_limit import MICROS_PER_DOLLAR
from holdfast.conversations.stats import Level, find_level
from holdfast.conversations.store import ConversationStore
from holdfast.errors import NotFound

# How long a reader waits for a writer.
BUSY_SECONDS = 5.0
# SQLite sorts every time before it.
AFTER_ALL = (float("inf"), "")
MAX_VERSION = 1 << 53


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestTokens:
    """The estimated tokens of the next request by part."""

    agent_description: int
    project_context: int
    checkpoint: int
    messages: int

    @property
    def total(self) -> int:
        return self.agent_description + self.project_context + self.checkpoint + self.messages


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationFigures:
    """One conversation as it is now. Times are in seconds since 1970."""

    id: str
    session: str
    feature: str
    model: str
    tokens: RequestTokens
    limit: int | None
    """The window in tokens; None if the agent has not added a message since this is recorded."""
    trigger: int | None
    """The tokens at which it is compacted."""
    level: Level
    messages: int
    live_messages: int
    """The messages that no checkpoint covers yet."""
    checkpoint_version: int
    compactions: int
    messages_compacted: int
    tokens_reclaimed: int
    dollars: float
    is_compacting: bool
    created_at: float
    updated_at: float
    archived_at: float | None

    @property
    def name(self) -> str:
        return "/".join(part for part in (self.session, self.feature) if part) or self.id

    @property
    def percent(self) -> float | None:
        """The share of the window that the next request takes."""
        return 100 * self.tokens.total / self.limit if self.limit else None

    @property
    def tokens_left(self) -> int | None:
        """The tokens that can be added before it is compacted."""
        return max(0, self.trigger - self.tokens.total) if self.trigger else None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointVersion:
    """One version of a checkpoint, without its lists."""

    version: int
    made_by: str
    messages: int
    """How many messages it was made from; 0 if the agent wrote it itself."""
    tokens: int
    tokens_before: int
    tokens_reclaimed: int
    made_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationEvent:
    """An event, such as the end of a compaction; `detail` as in docs/reference/session.md."""

    ordinal: int
    kind: str
    detail: dict[str, Any]
    happened_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Expense:
    """What the calls to one model have cost a conversation on one day."""

    day: str
    session: str
    feature: str
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    micros: int
    """Millionths of a dollar."""
    dollars: float


@contextmanager
def open_conversations(path: str, *, own_folder: bool = True) -> Iterator[ConversationStore]:
    """Open the conversations in a store file."""
    store = ConversationStore(path, busy_seconds=BUSY_SECONDS, own_folder=own_folder)
    with closing(store):
        yield store


def list_conversations(
    store: ConversationStore, limit: int, now: float, before: tuple[float, str] | None = None
) -> list[ConversationFigures]:
    """Return the conversations, the latest first; `before` is where the previous page ended."""
    before_at, before_id = before or AFTER_ALL
    with store.transaction(writes=False):
        rows = store.all("conversation_page", before_at=before_at, before_id=before_id, limit=limit)
        return [_to_figures(store, row, now) for row in rows]


def get_conversation(store: ConversationStore, ident: str, now: float) -> ConversationFigures:
    """Return one conversation; raises NotFound if there is none with this id."""
    with store.transaction(writes=False):
        row = store.one("conversation_by_id", id=ident)
        if row is None:
            raise NotFound(
                f"No conversation {ident} is recorded",
                hint="SessionManager() without a store keeps its conversations where this looks",
            )
        return _to_figures(store, row, now)


def list_versions(
    store: ConversationStore, ident: str, limit: int, before: int | None = None
) -> list[CheckpointVersion]:
    """Return the versions of a checkpoint, the newest first, up to but without `before`."""
    rows = store.all(
        "checkpoint_versions",
        id=ident,
        limit=limit,
        before=MAX_VERSION if before is None else before,
    )
    return [CheckpointVersion(**row) for row in rows]


def get_checkpoint(store: ConversationStore, ident: str, version: int) -> Checkpoint:
    """Return a version of a checkpoint; an empty one if its content cannot be read.

    Raises NotFound if there is no such version.
    """
    row = store.one("checkpoint", id=ident, version=version)
    if row is None:
        raise NotFound(f"Conversation {ident} has no checkpoint {version}")
    try:
        return Checkpoint.parse(json.loads(row["content"]))
    except (ValueError, NotACheckpoint):
        return Checkpoint()


def list_events(store: ConversationStore, ident: str, limit: int) -> list[ConversationEvent]:
    """Return the latest events of a conversation, the latest first."""
    return [
        ConversationEvent(**{**row, "detail": json.loads(row["detail"])})
        for row in store.all("events", id=ident, limit=limit)
    ]


def list_expenses(store: ConversationStore) -> list[Expense]:
    """Return what all conversations have cost, by day, session and model."""
    return [_to_expense(row) for row in store.all("spend_table")]


def list_expenses_of(
    store: ConversationStore, conversation: ConversationFigures, limit: int
) -> list[Expense]:
    """Return what one conversation has cost, the latest day first."""
    rows = store.all(
        "conversation_spend",
        session=conversation.session,
        feature=conversation.feature,
        limit=limit,
    )
    return [_to_expense(row) for row in rows]


def _to_expense(row: dict[str, Any]) -> Expense:
    return Expense(**row, dollars=row["micros"] / MICROS_PER_DOLLAR)


def _to_figures(store: ConversationStore, row: dict[str, Any], now: float) -> ConversationFigures:
    tokens = _count_tokens(store, row)
    totals = store.one("compaction_totals", id=row["id"]) or {}
    key = {"session": row["session"], "feature": row["feature"]}
    spent = store.one("spent_by_conversation", **key) or {"micros": 0}
    trigger = row["trigger_tokens"]
    return ConversationFigures(
        id=row["id"], session=row["session"], feature=row["feature"], model=row["model"] or "",
        tokens=tokens, limit=row["limit_tokens"], trigger=trigger,
        level=find_level(tokens.total, row["warning_tokens"], trigger) if trigger else "ok",
        messages=row["messages"], live_messages=row["live_messages"],
        checkpoint_version=row["version"], compactions=totals["compactions"],
        messages_compacted=totals["messages"], tokens_reclaimed=totals["tokens_reclaimed"],
        dollars=spent["micros"] / MICROS_PER_DOLLAR,
        is_compacting=bool(row["lease"]) and row["leased_until"] > now,
        created_at=row["created_at"], updated_at=row["updated_at"],
        archived_at=row["archived_at"],
    )  # fmt: skip


def _count_tokens(store: ConversationStore, row: dict[str, Any]) -> RequestTokens:
    """Return the tokens of the next request, estimated as the agent estimates them."""
    counter = TokenCounter(row["model"] or "")
    newest = store.one("checkpoint", id=row["id"], version=row["version"])

    def count(text: str) -> int:
        return counter.text(text) + MESSAGE_OVERHEAD_TOKENS if text else 0

    return RequestTokens(
        agent_description=count(row["agent_description"]),
        project_context=count(row["project_context"]),
        checkpoint=newest["tokens"] + MESSAGE_OVERHEAD_TOKENS if newest else 0,
        messages=row["live_tokens"],
    )
