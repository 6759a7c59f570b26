"""The indexes that the contract of lookups is run on."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from holdfast.index.database import Index
from holdfast.index.fill import Source, fill
from holdfast.index.rank import Found
from holdfast.index.search import ANYTHING, Filter, search
from holdfast.index.sending import send
from holdfast.index.team import TeamIndex
from tests.unit.index.transcripts import NOW


class Place(Protocol):
    """Where transcripts are put in, and what is found there."""

    def fill(self, path: Path, session: str = "s1", project: str = "/p") -> None: ...

    def found(
        self,
        query: str,
        only: Filter = ANYTHING,
        *,
        project: str | None = None,
        session: str | None = None,
        own: str = "",
    ) -> list[Found]: ...


class Machine:
    """This machine's index: SQLite."""

    def __init__(self, index: Index) -> None:
        self.index = index

    def fill(self, path: Path, session: str = "s1", project: str = "/p") -> None:
        fill(self.index, Source(session, project, str(path)), NOW)

    def found(self, query: str, only: Filter = ANYTHING, **asked: Any) -> list[Found]:
        return _found(self.index, query, only, **asked)


class Team:
    """The team's: PostgreSQL, filled from a machine's."""

    def __init__(self, index: Index, team: TeamIndex) -> None:
        self.here = Machine(index)
        self.team = team

    def fill(self, path: Path, session: str = "s1", project: str = "/p") -> None:
        self.here.fill(path, session, project)
        self.send()

    def send(self) -> int:
        """How many pieces were sent."""
        rows = self.here.index.all("standings")
        return sum(send(self.here.index, row, self.team, row["project"], NOW)[0] for row in rows)

    def found(self, query: str, only: Filter = ANYTHING, **asked: Any) -> list[Found]:
        return _found(self.team, query, only, **asked)


def _found(
    index: Any,
    query: str,
    only: Filter,
    *,
    project: str | None = None,
    session: str | None = None,
    own: str = "",
) -> list[Found]:
    scope = index.scope(project, session)
    return [] if scope is None else search(index, query, scope, only=only, own=own)
