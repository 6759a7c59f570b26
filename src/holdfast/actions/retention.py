"""Take away what nobody will ask for again, and pack what is hardly ever asked for.

What a session could be restored from stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.actions.handoffs import MOST_SHOWN
from holdfast.ledger import flags, old_snapshots
from holdfast.store import schema
from holdfast.store.cold import Cold
from holdfast.store.records import LOCK

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Ledger
    from holdfast.store.base import Store

DAY = 86_400.0
OF_STORE = ("snapshots", "handoffs")
OF_TEAM = "texts"
OF_LEDGER = ("receipts", "messages", "agents", "changes")
OF_CALLERS = "contexts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftovers:
    """How many of each there are, or were, to take away or to pack, and the bytes that frees."""

    snapshots: int = 0
    handoffs: int = 0
    texts: int = 0
    """What a team can look up; on a machine they go with their transcripts."""
    contexts: int = 0
    """Snapshots that callers saved."""
    receipts: int = 0
    messages: int = 0
    agents: int = 0
    changes: int = 0
    packed: int = 0
    bytes: int = 0

    @property
    def gone(self) -> dict[str, int]:
        """What does not stay in any form."""
        return {name: getattr(self, name) for name in (*OF_STORE, OF_TEAM, OF_CALLERS, *OF_LEDGER)}

    @property
    def total(self) -> int:
        return sum(self.gone.values()) + self.packed


def leftovers(store: Store, ledger: Ledger, before: float) -> Leftovers:
    """What is older than that and can go."""
    counted = _counted(store, ledger, before)
    old = store.database.run(schema.queries("retention")["old_snapshots"], {"before": before})[0]
    cold = Cold(store.database, before).measure(without={row["id"] for row in old})
    return Leftovers(
        **{name: row["n"] for name, row in counted.items()},
        packed=cold.snapshots,
        bytes=sum(row["bytes"] for row in counted.values()) + cold.saved,
    )


def clear(store: Store, ledger: Ledger, before: float) -> Leftovers:
    """Take it away; how much it was."""
    queries, given = schema.queries("retention"), {"before": before}
    freed = sum(row["bytes"] for row in _counted(store, ledger, before).values())
    of_store = {
        name: store.database.run(queries[f"drop_{name}"], _given(name, before), LOCK)[1]
        for name in _of(store)
    }
    with ledger.together():
        # Whoever listens from before that is told so.
        for last in ledger.database.run(queries["last_old_change"], given)[0]:
            ledger.forget((last["tx"], last["seq"]))
        # Receipts first: they are found by their messages.
        of_ledger = {
            name: ledger.database.run(queries[f"drop_{name}"], given)[1] for name in OF_LEDGER
        }
        of_ledger[OF_CALLERS] = old_snapshots.drop(ledger, before)
    if path := ledger.database.path:
        flags.tidy(path, before)
    cold = Cold(store.database, before).pack()
    return Leftovers(**of_store, **of_ledger, packed=cold.snapshots, bytes=freed + cold.saved)


def _of(store: Store) -> tuple[str, ...]:
    return (*OF_STORE, OF_TEAM) if store.database.dialect == "postgres" else OF_STORE


def _counted(store: Store, ledger: Ledger, before: float) -> dict[str, dict[str, Any]]:
    queries = schema.queries("retention")
    counted = {
        name: database.run(queries[f"count_{name}"], _given(name, before))[0][0]
        for names, database in ((_of(store), store.database), (OF_LEDGER, ledger.database))
        for name in names
    }
    return {**counted, OF_CALLERS: old_snapshots.count(ledger, before)}


def _given(name: str, before: float) -> dict[str, Any]:
    return {"before": before, "shown": MOST_SHOWN} if name == "handoffs" else {"before": before}
