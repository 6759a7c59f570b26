"""One compaction: choose the messages, summarize them, and replace them in one transaction.

No lock is held while a model summarizes: messages can be added meanwhile.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from holdfast.conversations import events
from holdfast.conversations.budget import Budget, TokenCounter
from holdfast.conversations.checkpoint import Checkpoint
from holdfast.conversations.circuit_breaker import CircuitBreaker
from holdfast.conversations.cost_limit import SpendLedger
from holdfast.conversations.message import Message
from holdfast.conversations.store import ConversationStore
from holdfast.conversations.summarizers import Reply, Summarizer, Usage, Work
from holdfast.conversations.summarizers.rules import Rules, summarize
from holdfast.conversations.tool_pairs import find_safe_cut
from holdfast.conversations.validation import validate_reply
from holdfast.errors import (
    CompactionFailed,
    CompactionInProgress,
    CostLimitExceeded,
    HoldfastError,
    NothingToCompact,
)

# Longer than any model takes for all of its tries. After a kill -9 other processes wait at most
# this long, and not at all once the window is full.
LEASE_SECONDS = 300.0
# Recent messages may keep this share of the room for messages; with more, compacting would free too
# little.
MAX_RECENT_SHARE = 0.5
# A checkpoint may take this share of the window before old decisions are left out of it.
MAX_CHECKPOINT_SHARE = 0.25
# The tokens of a summary prompt besides the messages.
PROMPT_OVERHEAD_TOKENS = 1500


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionResult:
    """The result of one compaction."""

    version: int
    made_by: str
    messages: int
    tokens_before: int
    tokens_after: int
    items_left_out: int = 0
    """Completed items and old decisions for which the checkpoint had no room."""

    @property
    def tokens_reclaimed(self) -> int:
        return self.tokens_before - self.tokens_after


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationState:
    """A conversation at one moment."""

    id: str
    session: str
    feature: str
    version: int
    checkpoint: Checkpoint
    messages: Sequence[Message]
    fixed: int
    """Tokens of what every request has besides the checkpoint and the messages."""
    total: int
    """Tokens of the next request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionContext:
    """The store, the settings and the collaborators of a compaction."""

    store: ConversationStore
    ledger: SpendLedger
    counter: TokenCounter
    budget: Budget
    keep_recent: int
    checkpoint_tokens: int
    summarizer: Summarizer
    tries: int
    breaker: CircuitBreaker
    emit: Callable[[str, dict[str, Any]], None]
    warned: set[str] = field(default_factory=set)
    """The conversations that have warned that their window is nearly full, until there is room."""


def compact(
    state: ConversationState, context: CompactionContext, *, is_forced: bool = False
) -> CompactionResult:
    """Replace older messages by a checkpoint. If it raises, nothing has changed.

    A lease keeps two processes from summarizing the same messages. If another process has it but
    the window is full, rules summarize at once. With `is_forced` a conversation that has only
    recent messages is compacted too, except for the last message.
    """
    count = count_compactable(state, context)
    if not count and is_forced:
        count = find_safe_cut(state.messages, len(state.messages) - 1)
    if not count:
        raise NothingToCompact(f"{len(state.messages)} messages are there")
    lease = os.urandom(8).hex()
    now = time.time()
    until = now + LEASE_SECONDS
    has_lease = context.store.write("take_lease", id=state.id, lease=lease, until=until, now=now)
    if not has_lease and state.total < context.budget.limit:
        raise CompactionInProgress
    try:
        may_call_model = has_lease and not context.breaker.is_open
        return _run(state, context, count, context.summarizer if may_call_model else Rules())
    finally:
        if has_lease:
            context.store.write("release_lease", id=state.id, lease=lease)


def count_compactable(state: ConversationState, context: CompactionContext) -> int:
    """Return how many of the oldest messages can be compacted: all but the recent ones.

    A tool call and its result are never separated.
    """
    messages = state.messages
    room = context.budget.trigger - state.fixed - context.checkpoint_tokens
    max_recent_tokens = max(0, int(room * MAX_RECENT_SHARE))
    recent = recent_tokens = 0
    for message in reversed(messages):
        recent_tokens += message.tokens
        if recent >= context.keep_recent or (recent and recent_tokens > max_recent_tokens):
            break
        recent += 1
    return find_safe_cut(messages, len(messages) - recent)


def _run(
    state: ConversationState, context: CompactionContext, count: int, summarizer: Summarizer
) -> CompactionResult:
    compacted, kept = state.messages[:count], state.messages[count:]
    work = Work(
        checkpoint=state.checkpoint, messages=compacted, kept=kept, tokens=context.checkpoint_tokens
    )
    checkpoint_tokens = context.counter.text(state.checkpoint.render())
    before = sum(message.tokens for message in compacted) + checkpoint_tokens
    context.emit(events.START, {"messages": len(compacted), "estimated_tokens": state.total})
    checkpoint, made_by = _summarize(state, context, work, before, summarizer)
    checkpoint, left_out = _shorten(checkpoint, context)
    tokens_after = context.counter.text(checkpoint.render())
    if tokens_after >= before:
        raise CompactionFailed("a checkpoint would not be shorter than the messages")
    compaction = CompactionResult(
        version=state.version + 1, made_by=made_by, messages=len(compacted), tokens_before=before,
        tokens_after=tokens_after, items_left_out=left_out,
    )  # fmt: skip
    _save(state, context, checkpoint, compaction, compacted[-1].ordinal)
    detail = {
        "messages_compacted": len(compacted), "tokens_reclaimed": compaction.tokens_reclaimed,
        "checkpoint_version": compaction.version, "made_by": made_by,
    }  # fmt: skip
    if left_out:
        detail["items_left_out"] = left_out
    context.emit(events.COMPLETE, detail)
    return compaction


def _shorten(checkpoint: Checkpoint, context: CompactionContext) -> tuple[Checkpoint, int]:
    """Return the checkpoint without the history that has no room, and how many items that is."""
    tokens = context.checkpoint_tokens
    max_tokens = max(tokens, int(context.budget.limit * MAX_CHECKPOINT_SHARE))
    return checkpoint.shorten(tokens, max_tokens, context.counter.text)


def _summarize(
    state: ConversationState,
    context: CompactionContext,
    work: Work,
    before: int,
    summarizer: Summarizer,
) -> tuple[Checkpoint, str]:
    """Return the summarizer's checkpoint, or one by rules if all tries fail, and its maker."""
    complaint = ""
    for attempt in range(1, context.tries + 1) if not isinstance(summarizer, Rules) else ():
        detail = {"attempt": attempt, "summarizer": summarizer.name}
        context.emit(events.PROGRESS, detail)
        try:
            reply = _call_summarizer(
                state, context, replace(work, complaint=complaint), before, summarizer
            )
            checkpoint = validate_reply(reply, work, context.counter.text, before)
            context.breaker.record_success()
            return checkpoint, summarizer.name
        except CostLimitExceeded as problem:
            context.emit(
                events.SPEND_REFUSED, {**detail, "error": str(problem), "fallback": "rules"}
            )
            break
        except Exception as problem:
            # Rules take over whatever a model, its client or a custom summarizer raises.
            complaint = str(problem) or type(problem).__name__
            context.emit(events.ERROR, {**detail, "error": complaint, "fallback": "rules"})
            if attempt == context.tries:
                context.breaker.record_failure()
    return summarize(work), Rules.name


def _call_summarizer(
    state: ConversationState,
    context: CompactionContext,
    work: Work,
    before: int,
    summarizer: Summarizer,
) -> Reply:
    """Call the summarizer; a call that costs something is reserved and settled in the ledger."""
    price = summarizer.price()
    if price is None:
        return summarizer.summarize(work)
    max_input_tokens = before + PROMPT_OVERHEAD_TOKENS
    reservation = context.ledger.reserve(state.session, state.feature, price, max_input_tokens)
    usage = Usage()
    try:
        reply = summarizer.summarize(work)
        usage = reply.usage
        return reply
    except HoldfastError as problem:
        usage = getattr(problem, "usage", usage)
        raise
    finally:
        context.ledger.settle(reservation, price, usage)


def _save(
    state: ConversationState,
    context: CompactionContext,
    checkpoint: Checkpoint,
    compaction: CompactionResult,
    up_to: int,
) -> None:
    """Store the checkpoint and mark its messages in one transaction; messages that were added
    meanwhile stay live. Raises if another compaction was saved first.
    """
    store, ident, now = context.store, state.id, time.time()
    content, version = json.dumps(checkpoint.as_dict()), compaction.version
    with store.transaction():
        row = store.one("conversation", session=state.session, feature=state.feature)
        if row is None or row["version"] != state.version:
            raise CompactionFailed("another one has come first")
        store.write(
            "add_checkpoint", id=ident, version=version, content=content,
            tokens=compaction.tokens_after, made_by=compaction.made_by,
            messages=compaction.messages, tokens_before=compaction.tokens_before,
            tokens_reclaimed=compaction.tokens_reclaimed, now=now,
        )  # fmt: skip
        if store.write("compact_messages", id=ident, version=version, up_to=up_to) == 0:
            raise CompactionFailed("the messages are gone")
        live = store.one("count_live", id=ident) or {"messages": 0, "tokens": 0}
        store.write("set_live", id=ident, version=version, now=now, **live)
