"""Where a request finds the store and the ledger: pooled, one pair for one thread at a time."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, NamedTuple

from holdfast.actions.remembered import Remembered
from holdfast.errors import NoConnection, NotNow
from holdfast.surfaces.api.named import SESSIONS, Found

if TYPE_CHECKING:
    from holdfast.index.database import Index
    from holdfast.index.team import TeamIndex
    from holdfast.ledger.batch import Fresh
    from holdfast.ledger.ledger import Ledger
    from holdfast.store.questions import Question, Rows
    from holdfast.store.records import Records


class Books(NamedTuple):
    store: Records
    ledger: Ledger


class Desk:
    """Hands out books and takes them back."""

    shown: str
    # How many threads restore. Python runs one at a time, and to take turns costs more than a read.
    readers = 1

    def __init__(self) -> None:
        self.briefs = Remembered()
        """What was restored before, from this database."""
        self.found = Found()

    def forget(self) -> None:
        """Something was deleted: whatever was there may be gone."""
        self.found.clear()

    def joined(self, session: str) -> None:
        """Somebody has told of which project a session is."""
        self.found.drop(SESSIONS, session)

    def books(self) -> AbstractContextManager[Books]:
        raise NotImplementedError

    async def add(self, rows: list[Fresh]) -> bool:
        """Write these in the event loop itself. If that cannot be done, or fails, or if one of them
        was there, a thread has to write them all again: whatever is there by then is met.
        """
        return False

    async def ask(self, questions: list[Question]) -> list[Rows]:
        """Have these answered for the event loop itself. If that cannot be done, or fails, a thread
        has to look into its books.
        """
        raise NotNow

    def trouble(self, problem: Exception) -> Exception | None:
        """What keeps everybody from their books, if anything does; `problem` is what one met."""
        if isinstance(problem, NoConnection):
            return problem
        try:
            with self.books() as books, books.ledger.together():
                return None
        except Exception as found:
            return found

    def index(self, books: Books) -> AbstractContextManager[Index | TeamIndex]:
        """What lookups search."""
        raise NotImplementedError

    def watched(self, heard: Callable[[], None]) -> AbstractContextManager[object]:
        """While it is open, `heard` is called, by any thread, when there may be changes."""
        return nullcontext()

    def close(self) -> None: ...
