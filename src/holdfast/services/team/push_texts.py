"""Push the texts that this machine has indexed, so that the team can search them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from holdfast.search.push import push_session
from holdfast.search.team_index import TeamIndex
from holdfast.services.projects import to_project_id
from holdfast.services.team import peer_state

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.ledger.repository import Ledger
    from holdfast.search.index_db import Row, SearchIndex
    from holdfast.store.protocols import Database

# Columns whose values identify the version of a session's texts.
VERSION_COLUMNS = ("cursor", "documents", "compaction", "notes_version", "project")


def push_texts(
    index: SearchIndex,
    ledger: Ledger,
    team: Database,
    target: str,
    now: float,
    stop: Callable[[], bool],
) -> int:
    """Push the texts of every session that has new ones, the latest session first.

    Returns the number of texts. Stops early if `stop` returns true.
    """
    team_index, total = TeamIndex(team), 0
    sent = peer_state.load_sent_sessions(ledger, _sent_key(target))
    try:
        for row in _find_unsent(index, sent):
            project = to_project_id(ledger, row["project"])
            count, is_complete = push_session(index, row, team_index, project, now, stop)
            total += count
            if not is_complete:
                break
            sent[row["session"]] = _version(row)
    finally:
        # Also after a network failure: what arrived before it need not be sent again.
        if total or sent:
            peer_state.save_sent_sessions(ledger, _sent_key(target), sent)
    return total


def forget_pushed_texts(ledger: Ledger, target: str) -> None:
    """Forget what was sent, because the database no longer has it."""
    ledger.save_progress(_sent_key(target), {})


def count_unsent_sessions(index: SearchIndex, ledger: Ledger, target: str) -> int:
    """Return the number of sessions with texts that were not sent yet."""
    return len(_find_unsent(index, peer_state.load_sent_sessions(ledger, _sent_key(target))))


def _find_unsent(index: SearchIndex, sent: dict[str, str]) -> list[Row]:
    """Return the sessions whose texts changed since they were sent."""
    rows = index.fetch_all("session_states")
    return [row for row in rows if sent.get(row["session"]) != _version(row)]


def _version(row: Row) -> str:
    values = "\0".join(str(row[name]) for name in VERSION_COLUMNS)
    return hashlib.sha256(values.encode("utf-8", "replace")).hexdigest()[:16]


def _sent_key(target: str) -> str:
    return f"texts sent to {target}"
