"""What a token that is for one project gets to see: books in which there is nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from litestar.types import Scope

from holdfast.errors import NotAllowed
from holdfast.ledger.tables import PROJECT_PATHS
from holdfast.ledger.whose import led_elsewhere
from holdfast.ledger.within import LedgerWithin
from holdfast.store.within import StoreWithin
from holdfast.surfaces.api.desk import Books, Desk
from holdfast.surfaces.api.named import Found

if TYPE_CHECKING:
    from holdfast.index.database import Index
    from holdfast.index.team import TeamIndex

# Where the guard leaves the project of the caller's token.
KEY = "holdfast.project"


class HeldDesk(Desk):
    """Hands out another desk's books, of one project only."""

    def __init__(self, desk: Desk, project: str) -> None:
        self._desk = desk
        self.briefs = desk.briefs
        # What others have found may be nothing for this caller.
        self.found = Found()
        self._project = project
        self.shown = desk.shown

    def forget(self) -> None:
        self._desk.forget()

    def joined(self, session: str) -> None:
        self._desk.joined(session)

    @contextmanager
    def books(self) -> Iterator[Books]:
        with self._desk.books() as whole:
            paths = whole.ledger.rows(PROJECT_PATHS, project=self._project)
            store = StoreWithin(
                whole.store,
                frozenset(row["id"] for row in paths),
                lambda sessions: led_elsewhere(whole.ledger, sessions, self._project),
            )
            yield Books(store, LedgerWithin(whole.ledger.database, self._project, store.is_theirs))

    @contextmanager
    def index(self, books: Books) -> Iterator[Index | TeamIndex]:
        """All of it: whoever asks says of which project, and its books know no other's sessions."""
        with self._desk.books() as whole, self._desk.index(whole) as index:
            yield index


def project_of(scope: Scope) -> str:
    """The project that the caller is held to, or nothing."""
    return str(scope.get(KEY, ""))


def wanted(project: str | None, held_to: str) -> str | None:
    """The project that a caller asked for, within what its token allows."""
    if held_to and project not in (None, held_to):
        raise NotAllowed(f"this token is not for project {project}")
    return held_to or project
