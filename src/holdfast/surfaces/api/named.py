"""Ids that callers name: of something that is there, or of nothing at all."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from holdfast.ledger.tables import PROJECTS, SUBTASKS, Table
from holdfast.ledger.whose import of_sessions

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Ledger
    from holdfast.surfaces.api.desk import Books, Desk

# What jq makes of a project that it did not find.
NONE = ("", "null", None)
# Another server may delete what was found here, or tell of it: after so long it is asked for again.
SECONDS = 5.0
# Of which project a session is may be told any moment, and what was written before then stays so.
OF_NONE_SECONDS = 1.0
MOST = 10_000
SESSIONS = "sessions"


class Found:
    """What was there a moment ago, so that not everybody who names it has to ask. Threads may share
    one.
    """

    def __init__(self) -> None:
        # Until when it is known, and which project it is of.
        self._known: dict[tuple[str, str], tuple[float, str]] = {}
        self.turn = 0
        """Goes up when something has changed: what was asked for before then may be outdated."""

    def has(self, table: Table, ident: str | None) -> bool:
        """Whether this may be named without asking: it is known, or nothing."""
        return ident in NONE or self.project_of(table.name, ident) is not None

    def project_of(self, kind: str, ident: str) -> str | None:
        """Empty if it is of none; nothing if that is not known."""
        until, project = self._known.get((kind, ident), (0.0, ""))
        return project if until > time.monotonic() else None

    def note(self, kind: str, ident: str, project: str = "", seconds: float = SECONDS) -> None:
        if len(self._known) >= MOST:
            self._known = {}
        self._known[kind, ident] = time.monotonic() + seconds, project

    def note_session(self, session: str, project: str, asked: int) -> None:
        """`asked` is the turn in which somebody began to ask for it."""
        if asked == self.turn:
            self.note(SESSIONS, session, project, SECONDS if project else OF_NONE_SECONDS)

    def drop(self, kind: str, ident: str) -> None:
        self.turn += 1
        self._known.pop((kind, ident), None)

    def clear(self) -> None:
        self.turn += 1
        self._known = {}


def plain(ident: str | None) -> str:
    return "" if ident is None or ident in NONE else ident


def project(desk: Desk, ledger: Ledger, ident: str | None) -> str:
    """The id of a project that is there; nothing if none is named."""
    named = plain(ident)
    if named:
        ledger.need(PROJECTS, named)
        desk.found.note(PROJECTS.name, named)
    return named


def project_of_work(
    desk: Desk, books: Books, ident: str | None, session: str, subtask: str | None = None
) -> str:
    """The project that is named, else that of the subtask, else that of the session."""
    above = ""
    if named := plain(subtask):
        above = str(books.ledger.need(SUBTASKS, named)["project"])
        desk.found.note(SUBTASKS.name, named, above)
    return project(desk, books.ledger, ident) or above or of_session(desk, books, session)


def of_session(desk: Desk, books: Books, session: str) -> str:
    """The project that it is known in, if that is only one."""
    # Whoever is held to a project writes nothing of another.
    if not session or books.ledger.held:
        return ""
    asked = desk.found.turn
    found = of_sessions(books.ledger, [session], books.store.folders).get(session, "")
    desk.found.note_session(session, found, asked)
    return found


def quickly(found: Found, ident: str | None, session: str, subtask: str | None) -> str | None:
    """The same if nobody has to be asked for it."""
    if not can_be_named(found, ident, subtask):
        return None
    above = found.project_of(SUBTASKS.name, subtask) if subtask and plain(subtask) else ""
    if given := plain(ident) or above:
        return given
    return found.project_of(SESSIONS, session) if session else ""


def can_be_named(found: Found, ident: str | None, subtask: str | None) -> bool:
    """Whether both are known to be there."""
    return found.has(PROJECTS, ident) and found.has(SUBTASKS, subtask)
