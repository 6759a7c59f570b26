"""Synchronize this machine with the team database: push what is new, pull messages.

Rows stay here until they have arrived. Every id is derived from the row's content or its source,
so that a row that is sent twice exists once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.ledger.schema import SHARED_TABLES
from holdfast.services.team import peer_state, push_texts
from holdfast.services.team.import_session import import_all_sessions
from holdfast.services.team.pull import pull_messages
from holdfast.services.team.push_rows import RowPusher
from holdfast.store.copy import SessionCopier

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.ledger.repository import Ledger, Row
    from holdfast.ledger.schema import Table
    from holdfast.search.index_db import SearchIndex
    from holdfast.store.protocols import Database, Store

BATCH_ROWS = 100
MAX_REJECTED_ROWS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncResult:
    """What one synchronization sent and received."""

    sessions: int
    rows: int
    texts: int = 0
    received: int = 0
    """Messages pulled from the team."""
    skipped: tuple[str, ...] = ()
    """What the team database rejected, and why; it is tried again the next time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncBacklog:
    """What has not been sent yet."""

    sessions: int
    rows: int
    last_at: float | None
    texts: int = 0
    """Sessions with texts that have not been sent yet."""


def sync(
    store: Store,
    ledger: Ledger,
    team_store: Store,
    team: Ledger,
    target: str,
    now: float,
    *,
    index: SearchIndex | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> SyncResult:
    """Send everything that is new, and pull messages.

    `target` is the team's address without secrets. With `index`, its texts are sent too, until
    `stop` returns true. Raises the error if the database does not answer.
    """
    if not peer_state.has_our_rows(ledger, team, target):
        _forget(ledger, target)
    skipped: list[str] = []
    import_all_sessions(store, ledger, now, skipped)
    sent = SyncResult(
        sessions=_push_sessions(store, ledger, team_store, target, skipped),
        rows=_push_rows(ledger, team, target, now, skipped),
        received=pull_messages(ledger, team, target, now),
        texts=push_texts.push_texts(index, ledger, team_store.database, target, now, stop)
        if index
        else 0,
        skipped=tuple(skipped),
    )
    if sent.sessions or sent.rows or sent.texts:
        peer_state.renew_sync_token(ledger, team, target)
    return sent


def _forget(ledger: Ledger, target: str) -> None:
    """Forget what was sent to this address, because the database there is another one."""
    ledger.delete_sent_position(target)
    for key in (_sessions_key(target), _rejected_key(target)):
        ledger.save_progress(key, {})
    push_texts.forget_pushed_texts(ledger, target)


def measure_backlog(
    store: Store, ledger: Ledger, target: str, index: SearchIndex | None = None
) -> SyncBacklog:
    """Return what has not been sent yet. Does not contact the team database."""
    seq, at = ledger.get_sent_position(target)
    versions = SessionCopier(store.database, store.database).compute_session_versions()
    sent = peer_state.load_sent_sessions(ledger, _sessions_key(target))
    return SyncBacklog(
        sessions=sum(sent.get(session) != version for session, version in versions.items()),
        rows=ledger.count_changed_rows(seq)
        if at is not None
        else sum(ledger.count(table) for table in SHARED_TABLES.values()),
        last_at=at,
        texts=push_texts.count_unsent_sessions(index, ledger, target) if index else 0,
    )


def _sessions_key(target: str) -> str:
    return f"sent to {target}"


def _rejected_key(target: str) -> str:
    return f"not taken at {target}"


def _push_sessions(
    store: Store, ledger: Ledger, team_store: Store, target: str, skipped: list[str]
) -> int:
    copying = SessionCopier(store.database, team_store.database)
    sent = peer_state.load_sent_sessions(ledger, _sessions_key(target))
    unsent = {
        session: version
        for session, version in copying.compute_session_versions().items()
        if sent.get(session) != version
    }
    arrived = 0
    try:
        for session, version in unsent.items():
            try:
                copying.copy(session)
            except Exception as problem:
                _raise_if_unreachable(team_store.database, problem)
                skipped.append(f"session {session}: {problem}")
                continue
            sent[session] = version
            arrived += 1
            if arrived % BATCH_ROWS == 0:
                peer_state.save_sent_sessions(ledger, _sessions_key(target), sent)
    finally:
        if arrived:
            peer_state.save_sent_sessions(ledger, _sessions_key(target), sent)
    return arrived


def _push_rows(ledger: Ledger, team: Ledger, target: str, now: float, skipped: list[str]) -> int:
    pusher = _BatchPusher(RowPusher(ledger, team), skipped)
    rejected = ledger.load_progress(_rejected_key(target)).get("rows", [])
    total = pusher.push_changes(
        [{"kind": kind, "record": record, "gone": 0} for kind, record in rejected]
    )
    seq, at = ledger.get_sent_position(target)
    if at is None:
        # First push: old rows may no longer have entries in the change feed.
        seq = ledger.get_last_position()[1]
        total += _push_everything(ledger, pusher)
        ledger.save_sent_position(target, seq, now)
    while changes := ledger.list_changes((0, seq), BATCH_ROWS):
        total += pusher.push_changes(changes)
        seq = changes[-1]["seq"]
        ledger.save_sent_position(target, seq, now)
    if pusher.rejected != rejected:
        ledger.save_progress(_rejected_key(target), {"rows": pusher.rejected[:MAX_REJECTED_ROWS]})
    return total


def _push_everything(ledger: Ledger, pusher: _BatchPusher) -> int:
    """Push all rows, oldest first, and all known deletions; return the number of rows.

    After an interruption it starts again, which is harmless.
    """
    total = 0
    for table in SHARED_TABLES.values():
        last = None
        while rows := ledger.find(table, limit=BATCH_ROWS, before=last, newest_first=False):
            total += pusher.push_rows(table, rows)
            last = rows[-1][table.order_column], rows[-1]["id"]
    seq = 0
    while changes := ledger.list_changes((0, seq), BATCH_ROWS):
        pusher.push_changes([change for change in changes if change["gone"]])
        seq = changes[-1]["seq"]
    return total


class _BatchPusher:
    """Pushes batches. If a batch fails, its rows are pushed one by one, and the failing ones are
    collected in `rejected`.
    """

    def __init__(self, pusher: RowPusher, skipped: list[str]) -> None:
        self._pusher = pusher
        self._skipped = skipped
        self.rejected: list[list[str]] = []

    def push_rows(self, table: Table, rows: list[Row]) -> int:
        """Push rows of a table; return the number that arrived."""
        return self._push(
            rows,
            lambda batch: self._pusher.push_rows(table, batch),
            lambda row: (table.name, row["id"]),
        )

    def push_changes(self, changes: list[Row]) -> int:
        """Push the rows behind changes; return the number that arrived."""
        return self._push(
            changes, self._pusher.push_changes, lambda change: (change["kind"], change["record"])
        )

    def _push(
        self,
        batch: list[Row],
        push: Callable[[list[Row]], int],
        identify: Callable[[Row], tuple[str, str]],
    ) -> int:
        if not batch:
            return 0
        try:
            return push(batch)
        except Exception as problem:
            _raise_if_unreachable(self._pusher.team.database, problem)
            if len(batch) > 1:
                return sum(self._push([row], push, identify) for row in batch)
            kind, record = identify(batch[0])
            self._skipped.append(f"{kind} {record}: {problem}")
            self.rejected.append([kind, record])
            return 0


def _raise_if_unreachable(database: Database, problem: Exception) -> None:
    """Raise the problem if the database does not answer: then nothing else would arrive either."""
    try:
        database.run("SELECT 1 AS n")
    except Exception:
        raise problem from None
