"""One compaction: choose, summarise without holding anything up, and replace in one step."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.errors import (
    CompactionFailed,
    CompactionUnderWay,
    HoldfastError,
    NothingToCompact,
    SpendRefused,
)
from holdfast.session import events
from holdfast.session.budget import Budget, Counter
from holdfast.session.checkpoint import Checkpoint
from holdfast.session.message import Message
from holdfast.session.pairs import cut
from holdfast.session.rest import Rest
from holdfast.session.review import reviewed
from holdfast.session.spend import Ledger
from holdfast.session.summarizers import Reply, Summarizer, Usage, Work
from holdfast.session.summarizers.rules import Rules, summarize
from holdfast.store.conversations import Conversations

# Longer than any model takes for its tries; after a kill -9 others wait no longer than this, and
# not even that once the window is full.
LEASE_SECONDS = 300.0
# Of the room for messages so much may stay filled with recent ones: compacting must be worth it.
KEPT_SHARE = 0.5
# What a model is told besides the messages, in tokens.
FOR_THE_TASK = 1500


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """What one compaction did."""

    version: int
    made_by: str
    messages: int
    tokens_before: int
    tokens_after: int

    @property
    def tokens_reclaimed(self) -> int:
        return self.tokens_before - self.tokens_after


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A conversation at one moment."""

    id: str
    session: str
    feature: str
    version: int
    checkpoint: Checkpoint
    messages: Sequence[Message]
    fixed: int
    """Tokens of what every request carries besides checkpoint and messages."""
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What a compaction works with."""

    store: Conversations
    ledger: Ledger
    counter: Counter
    budget: Budget
    keep_recent: int
    checkpoint_tokens: int
    summarizer: Summarizer
    tries: int
    rest: Rest
    tell: Callable[[str, dict[str, Any]], None]


def compact(standing: Standing, means: Means) -> Compaction:
    """Compact what may go. Raises, and then nothing has changed."""
    place = split(standing, means)
    if not place:
        raise NothingToCompact(f"{len(standing.messages)} messages are there")
    lease = os.urandom(8).hex()
    now = time.time()
    until = now + LEASE_SECONDS
    leased = means.store.write("take_lease", id=standing.id, lease=lease, until=until, now=now)
    if not leased and standing.total < means.budget.limit:
        raise CompactionUnderWay
    try:
        # Who finds the window full does not wait for another's model, nor for one that is away.
        ask = leased and not means.rest.is_due
        return _run(standing, means, place, means.summarizer if ask else Rules())
    finally:
        if leased:
            means.store.write("give_back_lease", id=standing.id, lease=lease)


def split(standing: Standing, means: Means) -> int:
    """How many of the messages go: all but the recent ones, and no call without its result."""
    messages = standing.messages
    room = means.budget.trigger - standing.fixed - means.checkpoint_tokens
    allowed = max(0, int(room * KEPT_SHARE))
    kept = spent = 0
    for message in reversed(messages):
        spent += message.tokens
        if kept >= means.keep_recent or (kept and spent > allowed):
            break
        kept += 1
    return cut(messages, len(messages) - kept)


def _run(standing: Standing, means: Means, place: int, summarizer: Summarizer) -> Compaction:
    going, kept = standing.messages[:place], standing.messages[place:]
    work = Work(
        checkpoint=standing.checkpoint, messages=going, kept=kept, tokens=means.checkpoint_tokens
    )
    old = means.counter.text(standing.checkpoint.render())
    before = sum(message.tokens for message in going) + old
    means.tell(events.START, {"messages": len(going), "estimated_tokens": standing.total})
    made, made_by = _summarised(standing, means, work, before, summarizer)
    after = means.counter.text(made.render())
    done = Compaction(
        version=standing.version + 1, made_by=made_by, messages=len(going), tokens_before=before,
        tokens_after=after,
    )  # fmt: skip
    _replace(standing, means, made, done, going[-1].ordinal)
    told = {"messages_compacted": len(going), "tokens_reclaimed": done.tokens_reclaimed}
    means.tell(events.COMPLETE, {**told, "checkpoint_version": done.version, "made_by": made_by})
    return done


def _summarised(
    standing: Standing, means: Means, work: Work, before: int, summarizer: Summarizer
) -> tuple[Checkpoint, str]:
    """By the summarizer within its tries; else by rules, which always have an answer."""
    complaint = ""
    for attempt in range(1, means.tries + 1) if not isinstance(summarizer, Rules) else ():
        told = {"attempt": attempt, "summarizer": summarizer.name}
        means.tell(events.PROGRESS, told)
        again = Work(
            checkpoint=work.checkpoint, messages=work.messages, kept=work.kept, tokens=work.tokens,
            complaint=complaint,
        )  # fmt: skip
        try:
            reply = _asked(standing, means, again, before, summarizer)
            made = reviewed(reply, work, means.counter.text, before)
            means.rest.succeeded()
            return made, summarizer.name
        except SpendRefused as problem:
            means.tell(events.SPEND_REFUSED, {**told, "error": str(problem), "fallback": "rules"})
            break
        except Exception as problem:
            # Whatever a model, its client or somebody's own summarizer does: rules go on.
            complaint = str(problem) or type(problem).__name__
            means.tell(events.ERROR, {**told, "error": complaint, "fallback": "rules"})
            if attempt == means.tries:
                means.rest.failed()
    made = summarize(work).within(min(work.tokens, before - 1), means.counter.text)
    if means.counter.text(made.render()) >= before:
        raise CompactionFailed("a checkpoint would not be shorter than the messages")
    return made, Rules.name


def _asked(
    standing: Standing, means: Means, work: Work, before: int, summarizer: Summarizer
) -> Reply:
    price = summarizer.price()
    if price is None:
        return summarizer.summarize(work)
    most = before + FOR_THE_TASK
    spent = means.ledger.set_aside(standing.session, standing.feature, price, most)
    usage = Usage()
    try:
        reply = summarizer.summarize(work)
        usage = reply.usage
        return reply
    except HoldfastError as problem:
        usage = getattr(problem, "usage", usage)
        raise
    finally:
        means.ledger.settle(spent, price, usage)


def _replace(
    standing: Standing, means: Means, made: Checkpoint, done: Compaction, up_to: int
) -> None:
    """Old or new, never a mixture; what was added meanwhile stays."""
    store, ident, now = means.store, standing.id, time.time()
    with store.transaction():
        row = store.one("conversation", session=standing.session, feature=standing.feature)
        if row is None or row["version"] != standing.version:
            raise CompactionFailed("another one has come first")
        store.write(
            "add_checkpoint", id=ident, version=done.version, content=json.dumps(made.as_dict()),
            tokens=done.tokens_after, made_by=done.made_by, messages=done.messages,
            tokens_before=done.tokens_before, tokens_reclaimed=done.tokens_reclaimed, now=now,
        )  # fmt: skip
        if store.write("compact_messages", id=ident, version=done.version, up_to=up_to) == 0:
            raise CompactionFailed("the messages are gone")
        live = store.one("count_live", id=ident) or {"messages": 0, "tokens": 0}
        store.write("set_live", id=ident, version=done.version, now=now, **live)
