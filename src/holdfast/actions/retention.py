"""Take away what nobody will ask for again; what a session could be restored from stays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.store import schema
from holdfast.store.records import LOCK

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Ledger
    from holdfast.store.base import Store

DAY = 86_400.0
KINDS = ("messages", "agents", "changes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftovers:
    """How many of each there are, or were."""

    snapshots: int
    messages: int
    agents: int
    changes: int
    texts: int = 0
    """What a team can look up; on a machine they go with their transcripts."""

    @property
    def total(self) -> int:
        return self.snapshots + self.messages + self.agents + self.changes + self.texts


def leftovers(store: Store, ledger: Ledger, before: float) -> Leftovers:
    """What is older than that and can go."""
    queries = schema.queries("retention")
    given = {"before": before}
    ledgers = {
        kind: ledger.database.run(queries[f"count_{kind}"], given)[0][0]["n"] for kind in KINDS
    }
    snapshots = store.database.run(queries["count_snapshots"], given)[0][0]["n"]
    texts = 0
    if store.database.dialect == "postgres":
        texts = int(store.database.run(queries["count_texts"], given)[0][0]["n"])
    return Leftovers(snapshots=snapshots, texts=texts, **ledgers)


def clear(store: Store, ledger: Ledger, before: float) -> Leftovers:
    """Take it away; how much it was."""
    queries = schema.queries("retention")
    given = {"before": before}
    snapshots = store.database.run(queries["drop_snapshots"], given, LOCK)[1]
    texts = 0
    if store.database.dialect == "postgres":
        texts = store.database.run(queries["drop_texts"], given)[1]
    with ledger.together():
        ledgers = {kind: ledger.database.run(queries[f"drop_{kind}"], given)[1] for kind in KINDS}
        ledger.database.run(queries["drop_reads"], given)
    return Leftovers(snapshots=snapshots, texts=texts, **ledgers)
