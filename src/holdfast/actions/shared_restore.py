"""Put back what is known of a session by any way: its own log, callers' snapshots, the ledger."""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.actions.handoffs import with_handoffs
from holdfast.actions.remembered import key_of
from holdfast.brief import roles
from holdfast.brief.render import build
from holdfast.brief.tokens import estimate, units
from holdfast.hosts import claude_code
from holdfast.ledger import known, messages
from holdfast.ledger.tables import MESSAGES
from holdfast.state.richness import richness
from holdfast.store.questions import Question
from holdfast.store.records import what_is_restorable
from holdfast.store.schema import queries
from holdfast.views.shared_brief import mail_lines, of_ledger, render, role_of

if TYPE_CHECKING:
    from holdfast.actions.remembered import Remembered
    from holdfast.ledger.known import Known
    from holdfast.ledger.ledger import Ledger
    from holdfast.state.model import State
    from holdfast.store.base import Store
    from holdfast.store.questions import Asking, Rows

# Where a session has both a log and callers' snapshots, so much of the room is for the log, and
# what the others do not need.
OWN_SHARE = 0.7
MOST = 100
# What the line between both takes at most.
BETWEEN = 1
# Snapshots of more characters than this keep an event loop from everybody else for too long.
LARGE = 1 << 18
OWN = queries()["restorable"]


class Wanted(NamedTuple):
    """Who asks, and how long the answer may be."""

    session: str
    agent_id: str = ""
    agent_type: str = ""
    tokens: int = 2000

    @property
    def agent(self) -> str:
        return self.agent_type or self.agent_id


class Sources(NamedTuple):
    """All that a restore is made of. States and snapshots are large and told by their names: if
    these are what they were the last time, so is the text, whoever has written meanwhile.
    """

    own: tuple[Any, ...]
    shared: Known
    mail: list[str]
    wanted: Wanted


def restored(
    store: Store, ledger: Ledger, wanted: Wanted, now: float, remembered: Remembered
) -> str:
    """What an agent of this session should know again, within so many tokens; empty if nothing."""
    shared = known.known(ledger, wanted.session, wanted.agent_id)
    waiting = _inbox(ledger, wanted, now) if wanted.agent_id else []
    sources = Sources(store.restorable(wanted.session), shared, mail_lines(waiting), wanted)

    def make() -> str:
        return _made(sources, known.said(ledger, shared.snapshots), store)

    return remembered.text(sources, make)


def restoring(wanted: Wanted, now: float, remembered: Remembered) -> Asking[str | None]:
    """The same for an event loop, and for whoever may see everything. What takes as long as a
    hundred others is not made here: then nothing is returned, not even an empty text.
    """
    session = wanted.session
    asked = [
        Question(OWN, {"session": session}, is_ledgers=False),
        known.question(session, wanted.agent_id),
    ]
    if wanted.agent_id:
        asked.append(messages.question(wanted.agent_id, now, MOST + 1, session))
    own, shared, *waiting = yield asked
    mail = mail_lines(map(MESSAGES.decoded, chain(*waiting)))
    sources = Sources(what_is_restorable(own), known.told(shared), mail, wanted)
    key = key_of(sources)
    if (found := remembered.find(key)) is not None:
        return found
    if sources.own:
        return None
    snapshots = sources.shared.snapshots
    (rows,) = (yield [known.question_for(snapshots)]) if snapshots else ([],)
    if sum(len(row["role_context"]) for row in rows) > LARGE:
        return None
    return remembered.keep(key, _made(sources, known.said_in(rows, snapshots), None))


def _made(sources: Sources, saved: dict[str, Any], store: Store | None) -> str:
    """`store` has the session's own log, if there is one."""
    own_log, shared, mail, wanted = sources
    lines = {
        "waves": shared.waves, "subtasks": shared.open_work, "agents": shared.waits,
        "messages": mail[:MOST],
    }  # fmt: skip
    # A log tells more of its session than what was read from it into the ledger.
    if not own_log:
        agents, actions = map(known.agent, shared.agents), map(known.action, shared.actions)
        of_it = of_ledger(shared.request, [*agents], [*actions])
        lines |= {**of_it, "agents": [*shared.waits, *of_it["agents"]]}
    told = partial(
        render, saved, lines, role=role_of(wanted.agent), is_led=bool(shared.request),
        is_part=shared.is_part or len(mail) > MOST,
    )  # fmt: skip
    others = told(tokens=wanted.tokens, characters=claude_code.CHARACTERS)
    if not (own_log and store):
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


def _inbox(ledger: Ledger, wanted: Wanted, now: float) -> Rows:
    return messages.inbox(ledger, wanted.agent_id, now, MOST + 1, session=wanted.session)
