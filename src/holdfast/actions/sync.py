"""Send what is new on this machine to the team's store: kept here until it has arrived there.
Messages of the team's other machines come back on the same way.

Every row is named by its content or by where it comes from, so what is sent twice is there once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.actions import send_texts
from holdfast.actions.fill_ledger import fill_all
from holdfast.actions.incoming import receive
from holdfast.actions.send_rows import Sending
from holdfast.ledger.tables import SHARED
from holdfast.store.copying import Copying

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.index.database import Index
    from holdfast.ledger.ledger import Ledger
    from holdfast.store.base import Store

AT_ONCE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    sessions: int
    rows: int
    texts: int = 0
    received: int = 0
    """Messages that came from the team."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    sessions: int
    rows: int
    last_at: float | None
    texts: int = 0
    """How many sessions hold texts that have yet to be sent."""


def sync(
    store: Store,
    ledger: Ledger,
    team_store: Store,
    team: Ledger,
    target: str,
    now: float,
    *,
    index: Index | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Sent:
    """Everything that is new since the last time; `target` names the team without its secrets.

    With an index also the texts in it, unless `stop` says that it is enough for now.
    """
    fill_all(store, ledger, now)
    return Sent(
        sessions=_sessions(store, ledger, team_store, target),
        rows=_rows(ledger, team, target, now),
        received=receive(ledger, team, target, now),
        texts=send_texts.send_all(index, ledger, team_store.database, target, now, stop)
        if index
        else 0,
    )


def waiting(store: Store, ledger: Ledger, target: str, index: Index | None = None) -> Waiting:
    """What has yet to be sent, as far as this machine knows; nobody is asked."""
    seq, at = ledger.sent(target)
    stands = Copying(store.database, store.database).stands()
    known = ledger.reading(_memory(target))
    return Waiting(
        sessions=sum(known.get(session) != word for session, word in stands.items()),
        rows=ledger.count_changes(seq)
        if at is not None
        else sum(ledger.count(table) for table in SHARED.values()),
        last_at=at,
        texts=send_texts.waiting(index, ledger, target) if index else 0,
    )


def _memory(target: str) -> str:
    return f"sent to {target}"


def _sessions(store: Store, ledger: Ledger, team_store: Store, target: str) -> int:
    copying = Copying(store.database, team_store.database)
    known = ledger.reading(_memory(target))
    moved = {name: word for name, word in copying.stands().items() if known.get(name) != word}
    for session, word in moved.items():
        copying.copy(session)
        known[session] = word
        ledger.keep_reading(_memory(target), known)
    return len(moved)


def _rows(ledger: Ledger, team: Ledger, target: str, now: float) -> int:
    total = 0
    sending = Sending(ledger, team)
    seq, at = ledger.sent(target)
    if at is None:
        # What was written before there was this team may be told of no more.
        seq = ledger.last_change()[1]
        total = _everything(ledger, sending)
        ledger.keep_sent(target, seq, now)
    while some := ledger.changes((0, seq), AT_ONCE):
        total += sending.changes(some)
        seq = some[-1]["seq"]
        ledger.keep_sent(target, seq, now)
    return total


def _everything(ledger: Ledger, sending: Sending) -> int:
    """All rows there are, from the oldest on. Who is interrupted begins again: it does no harm."""
    total = 0
    for table in SHARED.values():
        last = None
        while some := ledger.rows(table, most=AT_ONCE, before=last, newest_first=False):
            sending.rows(table, some)
            last = some[-1][table.order], some[-1]["id"]
            total += len(some)
    return total
