"""Send what is new on this machine to the team's store: kept here until it has arrived there.
Messages of the team's other machines come back on the same way.

Every row is named by its content or by where it comes from, so what is sent twice is there once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.actions import acquaintance, send_texts, sent_sessions
from holdfast.actions.fill_ledger import fill_all
from holdfast.actions.incoming import receive
from holdfast.actions.send_rows import Sending
from holdfast.ledger.tables import SHARED
from holdfast.store.copying import Copying

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.index.database import Index
    from holdfast.ledger.ledger import Ledger, Row
    from holdfast.ledger.tables import Table
    from holdfast.store.base import Database, Store

AT_ONCE = 100
MOST_LEFT_OUT = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    sessions: int
    rows: int
    texts: int = 0
    received: int = 0
    """Messages that came from the team."""
    skipped: tuple[str, ...] = ()
    """What the team does not take, and why; it is tried again the next time."""


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
    if not acquaintance.is_known(ledger, team, target):
        _forget(ledger, target)
    skipped: list[str] = []
    fill_all(store, ledger, now, skipped)
    sent = Sent(
        sessions=_sessions(store, ledger, team_store, target, skipped),
        rows=_rows(ledger, team, target, now, skipped),
        received=receive(ledger, team, target, now),
        texts=send_texts.send_all(index, ledger, team_store.database, target, now, stop)
        if index
        else 0,
        skipped=tuple(skipped),
    )
    if sent.sessions or sent.rows or sent.texts:
        acquaintance.agree(ledger, team, target)
    return sent


def _forget(ledger: Ledger, target: str) -> None:
    """Whatever was sent to that address is not there."""
    ledger.forget_sent(target)
    for memory in (_memory(target), _left_out(target)):
        ledger.keep_reading(memory, {})
    send_texts.forget(ledger, target)


def waiting(store: Store, ledger: Ledger, target: str, index: Index | None = None) -> Waiting:
    """What has yet to be sent, as far as this machine knows; nobody is asked."""
    seq, at = ledger.sent(target)
    stands = Copying(store.database, store.database).stands()
    known = sent_sessions.known(ledger, _memory(target))
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


def _left_out(target: str) -> str:
    return f"not taken at {target}"


def _sessions(
    store: Store, ledger: Ledger, team_store: Store, target: str, skipped: list[str]
) -> int:
    copying = Copying(store.database, team_store.database)
    known = sent_sessions.known(ledger, _memory(target))
    moved = {name: word for name, word in copying.stands().items() if known.get(name) != word}
    arrived = 0
    try:
        for session, word in moved.items():
            try:
                copying.copy(session)
            except Exception as problem:
                _unless_away(team_store.database, problem)
                skipped.append(f"session {session}: {problem}")
                continue
            known[session] = word
            arrived += 1
            if arrived % AT_ONCE == 0:
                sent_sessions.keep(ledger, _memory(target), known)
    finally:
        if arrived:
            sent_sessions.keep(ledger, _memory(target), known)
    return arrived


def _rows(ledger: Ledger, team: Ledger, target: str, now: float, skipped: list[str]) -> int:
    sending = Sending(ledger, team)
    careful = _Careful(sending, skipped)
    left = ledger.reading(_left_out(target)).get("rows", [])
    total = careful.changes([{"kind": kind, "record": record, "gone": 0} for kind, record in left])
    seq, at = ledger.sent(target)
    if at is None:
        # What was written before there was this team may be told of no more.
        seq = ledger.last_change()[1]
        total += _everything(ledger, careful)
        ledger.keep_sent(target, seq, now)
    while some := ledger.changes((0, seq), AT_ONCE):
        total += careful.changes(some)
        seq = some[-1]["seq"]
        ledger.keep_sent(target, seq, now)
    if careful.left != left:
        ledger.keep_reading(_left_out(target), {"rows": careful.left[:MOST_LEFT_OUT]})
    return total


def _everything(ledger: Ledger, careful: _Careful) -> int:
    """All rows there are, from the oldest on, and what is known to be gone. Who is interrupted
    begins again: it does no harm.
    """
    total = 0
    for table in SHARED.values():
        last = None
        while some := ledger.rows(table, most=AT_ONCE, before=last, newest_first=False):
            total += careful.rows(table, some)
            last = some[-1][table.order], some[-1]["id"]
    seq = 0
    while changes := ledger.changes((0, seq), AT_ONCE):
        careful.changes([one for one in changes if one["gone"]])
        seq = changes[-1]["seq"]
    return total


class _Careful:
    """Sends many at once; if that fails, one after the other, and goes on without who fails."""

    def __init__(self, sending: Sending, skipped: list[str]) -> None:
        self._sending = sending
        self._skipped = skipped
        self.left: list[list[str]] = []

    def rows(self, table: Table, some: list[Row]) -> int:
        return self._sent(
            some, lambda rows: self._sending.rows(table, rows), lambda row: (table.name, row["id"])
        )

    def changes(self, some: list[Row]) -> int:
        return self._sent(some, self._sending.changes, lambda one: (one["kind"], one["record"]))

    def _sent(
        self,
        some: list[Row],
        send: Callable[[list[Row]], int],
        name: Callable[[Row], tuple[str, str]],
    ) -> int:
        if not some:
            return 0
        try:
            return send(some)
        except Exception as problem:
            _unless_away(self._sending.team.database, problem)
            if len(some) > 1:
                return sum(self._sent([one], send, name) for one in some)
            kind, record = name(some[0])
            self._skipped.append(f"{kind} {record}: {problem}")
            self.left.append([kind, record])
            return 0


def _unless_away(database: Database, problem: Exception) -> None:
    """Raises it if nothing else could be sent either."""
    try:
        database.run("SELECT 1 AS n")
    except Exception:
        raise problem from None
