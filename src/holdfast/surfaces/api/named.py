"""Ids that callers name: of something that is there, or of nothing at all."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from holdfast.ledger.tables import PROJECTS, SUBTASKS, Table

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Ledger
    from holdfast.surfaces.api.desk import Desk

# What jq makes of a project that it did not find.
NONE = ("", "null", None)
# Another server may delete what was found here: after so long it is asked for again.
SECONDS = 30.0
MOST = 10_000


class Found:
    """What was there a moment ago, so that not everybody who names it has to ask. Threads may share
    one.
    """

    def __init__(self) -> None:
        self._until: dict[tuple[str, str], float] = {}

    def has(self, table: Table, ident: str | None) -> bool:
        """Whether this may be named without asking: it is known, or nothing."""
        return ident in NONE or self._until.get((table.name, ident), 0.0) > time.monotonic()

    def note(self, table: Table, ident: str) -> None:
        if len(self._until) >= MOST:
            self.clear()
        self._until[table.name, ident] = time.monotonic() + SECONDS

    def clear(self) -> None:
        self._until = {}


def plain(ident: str | None) -> str:
    return "" if ident is None or ident in NONE else ident


def project(desk: Desk, ledger: Ledger, ident: str | None) -> str:
    """The id of a project that is there; nothing if none is named."""
    return _there(desk, ledger, PROJECTS, ident)


def subtask(desk: Desk, ledger: Ledger, ident: str | None) -> str:
    return _there(desk, ledger, SUBTASKS, ident)


def _there(desk: Desk, ledger: Ledger, table: Table, ident: str | None) -> str:
    named = plain(ident)
    if named:
        ledger.need(table, named)
        desk.found.note(table, named)
    return named
