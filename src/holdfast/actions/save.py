"""Save before the host compacts, or whenever the guardian says so."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.actions.catch_up import Session
    from holdfast.settings import Settings
    from holdfast.store.base import Store


def save(store: Store, session: Session, reason: str, now: float) -> str:
    """A verified snapshot of the session as it stands."""
    return store.add_snapshot(session.id, reason, session.state, now)


def prune(store: Store, session: str, chosen: Settings) -> None:
    """A long session does not fill the disk: old saves at thresholds go, old briefs too."""
    kept = chosen.keep_snapshots
    store.prune(session, snapshots=kept, compactions=chosen.keep_compactions)
