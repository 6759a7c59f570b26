"""The team's index in PostgreSQL: what every machine has sent, found by the same words."""

from __future__ import annotations

import zlib
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.index import ids
from holdfast.index.kept import as_found
from holdfast.index.search import MOST_PLACES, MOST_SCANNED, RECENT
from holdfast.index.texts import KINDS
from holdfast.index.vector import query, share
from holdfast.index.words import match, storable

if TYPE_CHECKING:
    from holdfast.index.rank import Found
    from holdfast.index.search import Filter
    from holdfast.index.words import Asked
    from holdfast.store.base import Database

Row = dict[str, Any]
_FOUND = "SELECT p.id{more} FROM recall_pieces p{join} WHERE {where} ORDER BY p.id DESC LIMIT :most"
# Told to look in order and stop, PostgreSQL takes a rare word for one that soon turns up, and looks
# through everything. All places of it are few.
_RARE = (
    "WITH found AS MATERIALIZED (SELECT p.id FROM recall_pieces p{join} WHERE {where}) "
    "SELECT id FROM found ORDER BY id DESC LIMIT :most"
)
# What PostgreSQL itself has counted: the words that stand in most texts, and in how many.
_COUNTED = (
    "SELECT CAST(CAST(most_common_elems AS TEXT) AS TEXT[]) AS words, "
    "most_common_elem_freqs AS shares, c.reltuples AS texts FROM pg_stats JOIN pg_class c "
    "ON c.oid = to_regclass('recall_pieces') WHERE schemaname = current_schema() "
    "AND tablename = 'recall_pieces' AND attname = 'words' AND most_common_elems IS NOT NULL"
)
_SESSION = " JOIN recall_sessions s ON s.number = p.id >> 31"
_READ = (
    "SELECT p.id, p.kind, p.tool, p.at, p.text, s.session, s.compaction FROM recall_pieces p "
    f"{_SESSION} WHERE p.id = ANY(CAST(:ids AS BIGINT[]))"
)
# Sessions from the latest on, until they hold so many pieces.
_RECENT = (
    "SELECT number FROM (SELECT number, sum(pieces) OVER (ORDER BY number DESC) AS so_far "
    "FROM recall_sessions WHERE CAST(:project AS BIGINT) IN (0, project)) AS counted "
    "WHERE so_far >= :enough ORDER BY number DESC LIMIT 1"
)
_KEPT = (
    f"SELECT p.*, s.session FROM recall_pieces p{_SESSION} "
    "WHERE p.id BETWEEN :low AND :high ORDER BY p.id"
)


class TeamScope(NamedTuple):
    """Where to look: a project (0 is every one), ids, and sessions to leave out."""

    project: int
    range: ids.Range
    without: tuple[int, ...] = ()


class TeamIndex:
    """What is searched; filling it is in `sending.py`."""

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

    def number_of(self, session: str) -> int | None:
        """What the ids of a session's pieces begin with."""
        row = self.session(session)
        return row["number"] if row else None

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

    def is_common(self, asked: Asked) -> bool:
        """Whether the latest places of a question are found sooner one by one than all at once."""
        shares, texts = self._counted
        return share(asked, shares) ** 2 * texts > MOST_PLACES

    @cached_property
    def _counted(self) -> tuple[dict[str, float], float]:
        for row in self.ask(_COUNTED):
            return dict(zip(row["words"], row["shares"], strict=False)), row["texts"]
        return {}, 0.0

    def lookup(self, scope: TeamScope, only: Filter) -> TeamLookup:
        return TeamLookup(self, scope, only)

    def kept(self, low: int, high: int) -> list[Row]:
        """The pieces between two ids, in order."""
        return self.ask(_KEPT, low=low, high=high)


class TeamLookup:
    """See `holdfast.index.search.Lookup`."""

    def __init__(self, index: TeamIndex, scope: TeamScope, only: Filter) -> None:
        self._index = index
        self._scope = scope
        self._file = match(storable(only.file)) if only.file else ()
        self._nowhere = bool(only.file) and not self._file
        self._join = _SESSION if only.before_compaction else ""
        self._where, self._values = _conditions(scope, only)

    def places(self, asked: Asked, since: int = 0) -> list[int]:
        needed = (*asked, *self._file)
        words = query(needed) if asked and not self._nowhere else ""
        if not words:
            return []
        where = " AND ".join([*self._where, "p.words @@ CAST(:words AS tsquery)"])
        statement = _FOUND if self._index.is_common(needed) else _RARE
        given = {"words": words, "low": max(since, self._scope.range[0]), "most": MOST_PLACES}
        rows = self._index.ask(
            statement.format(more="", join=self._join, where=where), **{**self._values, **given}
        )
        return [row["id"] for row in rows]

    def holding(self, text: str) -> list[int]:
        if self._file or self._nowhere or not text:
            return []
        where = " AND ".join(self._where)
        statement = _FOUND.format(more=", p.text", join=self._join, where=where)
        rows = self._index.ask(statement, **self._values, most=MOST_SCANNED)
        return [row["id"] for row in rows if text in zlib.decompress(row["text"]).decode().lower()]

    def recent(self) -> int:
        found = self._index.ask(_RECENT, project=self._scope.project, enough=RECENT)
        return ids.of_session(found[0]["number"])[0] if found else self._scope.range[0]

    def read(self, chosen: list[int]) -> list[Found]:
        rows = {row["id"]: row for row in self._index.ask(_READ, ids=chosen)} if chosen else {}
        return [as_found(rows[ident]) for ident in chosen if ident in rows]


def _conditions(scope: TeamScope, only: Filter) -> tuple[list[str], Row]:
    """What a hit must be, as conditions and their values."""
    where, values = ["p.id BETWEEN :low AND :high"], {"low": scope.range[0], "high": scope.range[1]}
    given: list[tuple[Any, str, str]] = [
        (scope.project, "project", "p.project = :project"),
        ([*scope.without], "without", "NOT p.id >> 31 = ANY(CAST(:without AS BIGINT[]))"),
        ([KINDS.index(kind) for kind in only.kinds], "kinds", "p.kind = ANY(:kinds)"),
        (storable(only.tool), "tool", "lower(p.tool) = lower(:tool)"),
        (only.since, "since", "p.at >= :since"),
    ]
    for value, name, condition in given:
        if value:
            where.append(condition)
            values[name] = value
    if only.before_compaction:
        where.append("(p.id >> 6 & 33554431) < s.compaction")
    return where, values
