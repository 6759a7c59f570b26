"""How PostgreSQL is asked for words: of common ones only the latest places are looked at.

Its index tells all places of a word, in no order. So a question is narrowed down to the latest
sessions that should hold enough places by what PostgreSQL has counted, and widened if they do not.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

from holdfast.index import ids
from holdfast.index.kept import as_found
from holdfast.index.latest import LatestSessions
from holdfast.index.lexemes import one_of, query, rows, share, stretch
from holdfast.index.search import MOST_PLACES, MOST_SCANNED, RECENT
from holdfast.index.texts import KINDS
from holdfast.index.words import match, storable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.index.rank import Found
    from holdfast.index.search import Filter
    from holdfast.index.team import Row, TeamIndex, TeamScope
    from holdfast.index.words import Asked

_LEXEMES = "recall_lexemes(p.id, p.project, p.kind, p.words)"
_SESSION = " JOIN recall_sessions s ON s.number = p.id >> 31"
# Worked out as a whole: told to look in order and stop, PostgreSQL would take a rare word for one
# that soon turns up, and look through everything.
_FOUND = (
    "WITH found AS MATERIALIZED (SELECT p.id FROM recall_pieces p{join} WHERE {where}) "
    "SELECT id FROM found ORDER BY id DESC LIMIT :most"
)
# Session by session, so that it need not be known how many hold so many pieces.
_LATEST = (
    "SELECT p.id, p.text FROM recall_sessions s CROSS JOIN LATERAL ("
    "SELECT p.id, p.text FROM recall_pieces p WHERE {where} "
    "AND p.id BETWEEN s.number << 31 AND (s.number << 31) + 2147483647 "
    "ORDER BY p.id DESC LIMIT :most) p WHERE {sessions} "
    "ORDER BY s.number DESC, p.id DESC LIMIT :most"
)
_READ = (
    "SELECT p.id, p.kind, p.tool, p.at, p.text, s.session, s.compaction FROM recall_pieces p"
    f"{_SESSION} WHERE p.id = ANY(CAST(:ids AS BIGINT[]))"
)
# Fewer places of a word than this are quicker looked at than narrowed down.
PLENTY = 600
# How many of the latest pieces are looked through at least; how many more than should do; and how
# many times as many next.
SMALLEST_STRETCH, MARGIN, WIDER = 1000, 1.15, 4


class TeamLookup:
    """See `holdfast.index.search.Lookup`."""

    def __init__(self, index: TeamIndex, scope: TeamScope, only: Filter) -> None:
        self._index = index
        self._scope = scope
        self._only = only
        self._latest = LatestSessions(index, scope, only.since)
        self._file = match(storable(only.file)) if only.file else ()
        self._nowhere = bool(only.file) and not self._file
        self._join = _SESSION if only.before_compaction else ""
        self._where, self._values = _conditions(scope, only)

    def places(self, asked: Asked, since: int = 0) -> list[int]:
        needed = (*asked, *self._file)
        if not asked or self._nowhere or not query(needed):
            return []
        found: list[int] = []
        for start in self._backwards(needed, max(since, self._scope.range[0])):
            found = self._places(needed, start)
            if len(found) >= MOST_PLACES:
                break
        return found

    def _backwards(self, needed: Asked, low: int) -> Iterator[int]:
        """From where on to look: of common words ever further back, and at last from `low` on."""
        shares, texts = self._index.counted
        most, likely = share(needed, shares)
        if most * texts > PLENTY:
            # Words may stand together more often than by chance.
            enough = MARGIN * MOST_PLACES / max(likely, most / WIDER**2)
            enough = max(enough, SMALLEST_STRETCH)
            while (start := self._latest.start(enough)) > low:
                yield start
                enough *= WIDER
        yield low

    def _places(self, needed: Asked, low: int) -> list[int]:
        where, values = [*self._where], {**self._values, "low": low, "most": MOST_PLACES}
        for number, told in enumerate(filter(None, (query(needed), *self._narrowed(low)))):
            # Each a condition of its own: so the index leaps from one to the next, and never reads
            # all places of a common word.
            where.append(f"{_LEXEMES} @@ CAST(:told{number} AS tsquery)")
            values[f"told{number}"] = told
        for number, row in enumerate(rows(needed)):
            where.append(f"' ' || p.words || ' ' LIKE ANY(CAST(:row{number} AS TEXT[]))")
            values[f"row{number}"] = row
        statement = _FOUND.format(join=self._join, where=" AND ".join(where))
        return [row["id"] for row in self._index.ask(statement, **values)]

    def _narrowed(self, low: int) -> Iterator[str]:
        """What a hit must be, as far as the index knows it."""
        if low:
            last = self._scope.range[1] // ids.PER_SESSION
            yield stretch(low // ids.PER_SESSION, min(last, self._index.last_number))
        known = self._index.counted.shares
        yield one_of("_p", filter(None, (self._scope.project,)), known)
        yield one_of("_k", map(KINDS.index, self._only.kinds), known)

    def holding(self, text: str) -> list[int]:
        if self._file or self._nowhere or not text:
            return []
        sessions, values = self._latest.condition
        statement = _LATEST.format(where=" AND ".join(self._where), sessions=sessions)
        latest = self._index.ask(statement, **{**self._values, **values, "most": MOST_SCANNED})
        return [row["id"] for row in latest if text in _unpacked(row).lower()]

    def recent(self) -> int:
        return self._latest.start(RECENT)

    def read(self, chosen: list[int]) -> list[Found]:
        found = {row["id"]: row for row in self._index.ask(_READ, ids=chosen)} if chosen else {}
        return [as_found(found[ident]) for ident in chosen if ident in found]


def _unpacked(row: Row) -> str:
    return zlib.decompress(row["text"]).decode()


def _conditions(scope: TeamScope, only: Filter) -> tuple[list[str], Row]:
    """What a hit must be, as conditions and their values."""
    # Not by the ids' own index: the one of the words knows about where a stretch begins.
    where = ["p.id + 0 BETWEEN :low AND :high"]
    values: dict[str, Any] = {"low": scope.range[0], "high": scope.range[1]}
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
