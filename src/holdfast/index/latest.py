"""The sessions of a scope from the latest on, and how many pieces they hold together."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from holdfast.index import ids

if TYPE_CHECKING:
    from holdfast.index.team import Row, TeamIndex, TeamScope

_CONDITION = (
    "number BETWEEN :first AND :last AND CAST(:project AS BIGINT) IN (0, project) "
    "AND NOT number = ANY(CAST(:without AS BIGINT[])) AND last_at >= :since"
)
_NEXT = (
    f"SELECT number, pieces FROM recall_sessions WHERE {_CONDITION} "
    "AND number < :before ORDER BY number DESC LIMIT :most"
)
# How many sessions are asked for first, and how many times as many next.
AT_FIRST, WIDER = 64, 4


class LatestSessions:
    """Asked for only as far back as somebody wants to know."""

    def __init__(self, index: TeamIndex, scope: TeamScope, since: float) -> None:
        self._index = index
        self._first = scope.range[0]
        first, last = (ident // ids.PER_SESSION for ident in scope.range)
        values: Row = {"first": first, "last": last, "project": scope.project}
        values |= {"without": [*scope.without], "since": since}
        self.condition = _CONDITION, values
        self._numbers: list[int] = []
        self._so_far: list[int] = []
        self._is_all = False

    def start(self, enough: float) -> int:
        """The first id of the latest sessions that hold so many pieces; of all, if they do not."""
        while not self._is_all and (not self._so_far or self._so_far[-1] < enough):
            self._look_further()
        place = bisect_left(self._so_far, enough)
        if place == len(self._so_far):
            return self._first
        return max(ids.of_session(self._numbers[place])[0], self._first)

    def _look_further(self) -> None:
        most = max(AT_FIRST, len(self._numbers) * WIDER)
        before = self._numbers[-1] if self._numbers else 1 << 62
        values = {**self.condition[1], "before": before, "most": most}
        found = self._index.ask(_NEXT, **values)
        self._is_all = len(found) < most
        for row in found:
            so_far = self._so_far[-1] if self._so_far else 0
            self._numbers.append(row["number"])
            self._so_far.append(so_far + row["pieces"])
