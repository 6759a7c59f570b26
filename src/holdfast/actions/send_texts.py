"""Send the texts that this machine has indexed, so that a team can look them up."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from holdfast.actions import sent_sessions
from holdfast.actions.repository import origin_of
from holdfast.index.sending import send
from holdfast.index.team import TeamIndex
from holdfast.ledger import projects

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.index.database import Index, Row
    from holdfast.ledger.ledger import Ledger
    from holdfast.store.base import Database

# What makes a session's texts others than they were when they were last sent.
STAND = ("cursor", "pieces", "compaction", "noted", "project")


def send_all(
    index: Index,
    ledger: Ledger,
    team: Database,
    target: str,
    now: float,
    stop: Callable[[], bool],
) -> int:
    """The texts of every session that has new ones, the latest session first; how many."""
    there, known, total = TeamIndex(team), sent_sessions.known(ledger, _memory(target)), 0
    try:
        for row in _moved(index, known):
            project = project_of_path(ledger, row["project"])
            count, is_all = send(index, row, there, project, now, stop)
            total += count
            if not is_all:
                break
            known[row["session"]] = _word(row)
    finally:
        # What arrived before the network went away is known there, too.
        if total or known:
            sent_sessions.keep(ledger, _memory(target), known)
    return total


def forget(ledger: Ledger, target: str) -> None:
    """Nothing of it is there."""
    ledger.keep_reading(_memory(target), {})


def waiting(index: Index, ledger: Ledger, target: str) -> int:
    """How many sessions hold texts that were not sent yet."""
    return len(_moved(index, sent_sessions.known(ledger, _memory(target))))


def project_of_path(ledger: Ledger, path: str) -> str:
    """The id that the ledger has, or would have, for the project at this path."""
    return projects.name_of(ledger, path, origin_of(path))


def _moved(index: Index, known: Row) -> list[Row]:
    return [row for row in index.all("standings") if known.get(row["session"]) != _word(row)]


def _word(row: Row) -> str:
    told = "\0".join(str(row[name]) for name in STAND)
    return hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:16]


def _memory(target: str) -> str:
    return f"texts sent to {target}"
