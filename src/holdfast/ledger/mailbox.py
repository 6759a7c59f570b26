"""What waits for an agent by any of its names, told once.

An agent answers to its own id, to its kind (`main`, or a sub-agent's type) and to no name at all,
which is a broadcast. Its id is its own; kinds and broadcasts are a project's, if they name one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from holdfast.ledger import ids
from holdfast.ledger.messages import IMPORTANT
from holdfast.ledger.tables import MESSAGES, READS

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.ledger.ledger import Ledger, Row

MAIN = "main"
# More than this nobody is told at once, so no more is read, however much waits.
MOST = 50
_CHOSEN = (
    "FROM subscriptions WHERE agent_id IN (:own, :kind) AND subscriptions.project IN ('', :project)"
)
_REACHES = (
    "expires_at > :now AND from_agent_id <> :own AND (to_agent_id = :own OR (project IN "
    "('', :project) AND (to_agent_id = :kind OR (to_agent_id = '' AND "
    f"(topic IN (SELECT topic {_CHOSEN}) OR NOT EXISTS (SELECT 1 {_CHOSEN}))))))"
)
# Whoever of a kind comes first takes what was written to the kind; a broadcast is for each.
_UNREAD = (
    " AND taken = 0 AND NOT EXISTS (SELECT 1 FROM message_reads "
    "WHERE message_reads.message = messages.id AND "
    "(message_reads.agent_id = :own OR message_reads.agent_id = messages.to_agent_id))"
)


class Reader(NamedTuple):
    """An agent by its names."""

    own: str
    kind: str
    project: str = ""


def take(
    ledger: Ledger,
    reader: Reader,
    now: float,
    chosen: Callable[[list[Row]], list[Row]],
    *,
    again: bool = False,
) -> tuple[list[Row], int]:
    """Those of them that are told now, and how many are left; nobody is told the same again.

    The most important come first, then the oldest; `again` also what was told before.
    """
    kind = reader.kind or reader.own
    values = {"own": reader.own, "kind": kind, "project": reader.project, "now": now}
    also = _REACHES if again else _REACHES + _UNREAD
    with ledger.together("mail"):
        found = ledger.rows(
            MESSAGES, most=MOST, newest_first=False, first=IMPORTANT, also=also, values=values
        )
        waiting = len(found)
        if waiting == MOST:
            waiting = ledger.count(MESSAGES, also=also, values=values)
        told = chosen(found)
        for row in told:
            _mark(ledger, row, reader, now)
    return told, waiting - len(told)


def _mark(ledger: Ledger, row: Row, reader: Reader, now: float) -> None:
    names = {reader.own, row["to_agent_id"]} - {""}
    for name in sorted(names):
        receipt = {"message": row["id"], "agent_id": name, "updated_at": now}
        ident = ids.ident("read", row["id"], name)
        if ledger.get(READS, ident) is None:
            ledger.write(READS, {"id": ident, **receipt})
