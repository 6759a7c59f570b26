"""Group commit: rows that come while the last ones are being written are written together.

Whoever waits for a row is answered after the commit that holds it, never before. The event loop
writes them itself as long as all goes well; whatever needs patience is for a thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.ledger import batch
from holdfast.surfaces.api.crew import Crew
from holdfast.surfaces.api.rounds import Rounds

if TYPE_CHECKING:
    from holdfast.ledger.batch import Fresh
    from holdfast.ledger.ledger import Row
    from holdfast.surfaces.api.desk import Desk

# A thousand agents may wait at once. The first of a group is answered when the last is written.
MOST = 500


class Writer:
    """The event loop, and one thread; everybody else only waits."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        patient: Crew[Fresh, Row] = Crew("writer", self._written, most=MOST)
        self._rounds = Rounds(self._added, patient)
        self.close = self._rounds.close

    async def write(self, row: Fresh) -> Row:
        """The row as it is on disk."""
        return await self._rounds.done(row)

    async def _added(self, rows: list[Fresh]) -> list[Row] | None:
        return [row.stored for row in rows] if await self._desk.add(rows) else None

    def _written(self, rows: list[Fresh]) -> list[Row | Exception]:
        try:
            with self._desk.books() as books:
                if batch.add_all(books.ledger, rows):
                    return [row.stored for row in rows]
        except Exception as problem:
            if trouble := self._desk.trouble(problem):
                return [trouble] * len(rows)
        # One of them is known already, or cannot be written; the others have nothing to do with it.
        return list(map(self._alone, rows))

    def _alone(self, row: Fresh) -> Row | Exception:
        try:
            with self._desk.books() as books:
                return row.table.encoded(row.alone(books.ledger))
        except Exception as problem:
            return problem
