"""Put back what is known of a session by any way: its own log, callers' snapshots, the ledger."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from holdfast.actions.handoffs import with_handoffs
from holdfast.brief import roles
from holdfast.brief.render import build
from holdfast.brief.tokens import estimate, units
from holdfast.errors import NotNow
from holdfast.hosts import claude_code
from holdfast.ledger import known, messages
from holdfast.state.richness import richness
from holdfast.views.shared_brief import render, role_of

if TYPE_CHECKING:
    from holdfast.actions.remembered import Remembered
    from holdfast.ledger.known import Known
    from holdfast.ledger.ledger import Ledger
    from holdfast.state.model import State
    from holdfast.store.base import Store

# Where a session has both a log and callers' snapshots, so much of the room is for the log, and
# what the others do not need.
OWN_SHARE = 0.7
MOST = 100
# What the line between both takes at most.
BETWEEN = 1


class Wanted(NamedTuple):
    """Who asks, and how long the answer may be."""

    session: str
    agent_id: str = ""
    agent_type: str = ""
    tokens: int = 2000

    @property
    def agent(self) -> str:
        return self.agent_type or self.agent_id


class TakesLong(NotNow):
    """Whoever must not wait has asked for what takes as long as a hundred others."""


def restored(
    store: Store,
    ledger: Ledger,
    wanted: Wanted,
    now: float,
    remembered: Remembered,
    *,
    at_once: bool = False,
) -> str:
    """What an agent of this session should know again, within so many tokens; empty if nothing.

    States and snapshots are large and told by their names first: if all that a restore is made of
    is what it was the last time, so is the text, whoever has written to the database meanwhile.
    `at_once` is for who must not wait: no brief of the session's own log is made for them.
    """
    own = store.restorable(wanted.session)
    shared = known.known(ledger, wanted.session)
    mail = _mail(ledger, wanted, now)
    make = partial(_made, store if own else None, ledger, wanted, shared, mail)
    return remembered.text((own, shared, mail, wanted), _refused if own and at_once else make)


def _refused() -> str:
    raise TakesLong


def _made(
    store: Store | None, ledger: Ledger, wanted: Wanted, shared: Known, mail: list[str]
) -> str:
    saved = known.said(ledger, shared.snapshots)
    lines = {"waves": shared.waves, "subtasks": shared.open_work, "messages": mail[:MOST]}
    told = partial(
        render, saved, lines, role=role_of(wanted.agent),
        is_part=shared.is_part or len(mail) > MOST,
    )  # fmt: skip
    others = told(tokens=wanted.tokens, characters=claude_code.CHARACTERS)
    if not store:
        return others
    left = wanted.tokens - estimate(others) - BETWEEN
    own = _own(
        store, wanted, max(left, int(wanted.tokens * OWN_SHARE)) if others else wanted.tokens
    )
    if not own:
        return others
    return "\n".join(filter(None, (own, told(
        tokens=wanted.tokens - estimate(own) - BETWEEN,
        characters=claude_code.CHARACTERS - units(own) - BETWEEN, titled=False,
    ))))  # fmt: skip


def _own(store: Store, wanted: Wanted, tokens: int) -> str:
    """The brief of the session's own log, if there is anything to say."""
    state = _state(store, wanted.session)
    if state is None:
        return ""
    return build(
        with_handoffs(store, wanted.session, state),
        tokens=tokens,
        characters=claude_code.CHARACTERS,
        template=roles.template(roles.of_agent(wanted.agent)),
        session=wanted.session,
    ).text


def _state(store: Store, session: str) -> State | None:
    """The session's state, or a richer one that was saved before its log was lost."""
    row = store.session(session)
    saved = store.richest_snapshot(session)
    states = [one["state"] for one in (row, saved) if one is not None]
    best = max(states, key=lambda state: state["lines"], default=None)
    return best if best is not None and richness(best) else None


def _mail(ledger: Ledger, wanted: Wanted, now: float) -> list[str]:
    if not wanted.agent_id:
        return []
    waiting = messages.inbox(ledger, wanted.agent_id, now, MOST + 1, session=wanted.session)
    return [f"- {row['from_agent_id']}: {row['topic'] or row['message_type']}" for row in waiting]
