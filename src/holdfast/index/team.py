"""The team's index in PostgreSQL: what every machine has sent, found by the same words."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.index import ids
from holdfast.index.words import storable

if TYPE_CHECKING:
    from holdfast.index.search import Filter
    from holdfast.index.tsearch import TeamLookup
    from holdfast.store.base import Database

Row = dict[str, Any]
# What PostgreSQL itself has counted: the words that stand in most texts, and in how many. Told as
# two texts, which are quicker read than thousands of values.
_COUNTED = (
    "SELECT array_to_string(CAST(CAST(most_common_elems AS TEXT) AS TEXT[]), ' ') AS words, "
    "array_to_string(most_common_elem_freqs, ' ') AS shares, c.reltuples AS texts "
    "FROM pg_stats JOIN pg_class c ON c.oid = to_regclass('recall_pieces') "
    "WHERE schemaname = current_schema() AND tablename = 'recall_pieces_by_words' "
    "AND most_common_elems IS NOT NULL"
)
_LAST = "SELECT max(number) AS number FROM recall_sessions"
_KEPT = (
    "SELECT id, kind, tool, file, at, text, call, ok, aside FROM recall_pieces "
    "WHERE id BETWEEN :low AND :high ORDER BY id"
)


class TeamScope(NamedTuple):
    """Where to look: a project (0 is every one), ids, and sessions to leave out."""

    project: int
    range: ids.Range
    without: tuple[int, ...] = ()


class Counted(NamedTuple):
    """The share of all texts that each common word stands in, and how many texts there are."""

    shares: dict[str, float]
    texts: float


class TeamIndex:
    """What is searched, by `tsearch.py`; filling it is in `sending.py`."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def ask(self, statement: str, **values: Any) -> list[Row]:
        return self.database.run(statement, values)[0]

    def session(self, session: str) -> Row | None:
        """What is known of a session, with its project's id."""
        found = self.ask(
            "SELECT s.*, p.project AS project_id FROM recall_sessions s "
            "JOIN recall_projects p ON p.number = s.project WHERE session = :session",
            session=storable(session),
        )
        return found[0] if found else None

    def scope(
        self, project: str | None, session: str | None, without: tuple[str, ...] = ()
    ) -> TeamScope | None:
        """A session, a project by its id, or everything; nothing if it is not known."""
        if session is not None:
            row = self.session(session)
            return TeamScope(0, ids.of_session(row["number"])) if row else None
        number = 0
        if project is not None:
            found = self.ask(
                "SELECT number FROM recall_projects WHERE project = :project",
                project=storable(project),
            )
            if not found:
                return None
            number = found[0]["number"]
        return TeamScope(number, (0, (1 << 62) - 1), self._numbers(without))

    def _numbers(self, sessions: tuple[str, ...]) -> tuple[int, ...]:
        rows = self.ask(
            "SELECT number FROM recall_sessions WHERE session = ANY(CAST(:some AS TEXT[]))",
            some=[storable(one) for one in sessions],
        )
        return tuple(row["number"] for row in rows)

    @cached_property
    def counted(self) -> Counted:
        for row in self.ask(_COUNTED):
            shares = zip(row["words"].split(), map(float, row["shares"].split()), strict=False)
            return Counted(dict(shares), row["texts"])
        return Counted({}, 0.0)

    @cached_property
    def last_number(self) -> int:
        """That of the session that came in last."""
        number: int | None = self.ask(_LAST)[0]["number"]
        return number or 0

    def lookup(self, scope: TeamScope, only: Filter) -> TeamLookup:
        """For questions: see `search.py`."""
        from holdfast.index.tsearch import TeamLookup

        return TeamLookup(self, scope, only)

    def kept(self, low: int, high: int) -> list[Row]:
        """The pieces between two ids, in order."""
        return self.ask(_KEPT, low=low, high=high)
