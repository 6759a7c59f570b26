"""How far back the latest sessions reach that hold so many pieces."""

from __future__ import annotations

from typing import Any

from holdfast.index import ids
from holdfast.index.latest import AT_FIRST, WIDER, LatestSessions
from holdfast.index.team import TeamScope

EVERYTHING = TeamScope(0, ids.EVERYTHING)


class Sessions:
    """A team with sessions of ten pieces each; it counts how many it was asked for."""

    def __init__(self, count: int) -> None:
        self.numbers = [*range(count, 0, -1)]
        self.told: list[int] = []

    def ask(self, _: str, *, before: int, most: int, **asked: Any) -> list[dict[str, int]]:
        later = [n for n in self.numbers if asked["first"] <= n < min(before, asked["last"] + 1)]
        self.told.append(len(later[:most]))
        return [{"number": number, "pieces": 10} for number in later[:most]]


def latest(team: Any, scope: TeamScope = EVERYTHING) -> LatestSessions:
    return LatestSessions(team, scope, 0.0)


def start_of(number: int) -> int:
    return ids.of_session(number)[0]


def test_a_stretch_begins_with_the_session_that_makes_it_enough() -> None:
    found = latest(Sessions(1000))
    for enough, number in ((1, 1000), (10, 1000), (11, 999), (5000, 501), (10_000, 1)):
        assert found.start(enough) == start_of(number)


def test_if_all_are_not_enough_it_begins_with_the_scope() -> None:
    assert latest(Sessions(5)).start(51) == 0
    assert latest(Sessions(0)).start(1) == 0
    of_session = TeamScope(0, ids.of_session(3))
    assert latest(Sessions(5), of_session).start(51) == start_of(3)
    assert latest(Sessions(5), of_session).start(5) == start_of(3)


def test_sessions_are_asked_for_only_as_far_back_as_somebody_wants_to_know() -> None:
    team = Sessions(10_000)
    found = latest(team)
    found.start(500)
    found.start(600)
    assert team.told == [AT_FIRST]
    found.start(700)
    assert team.told == [AT_FIRST, AT_FIRST * WIDER]


def test_what_is_known_to_be_all_is_not_asked_for_again() -> None:
    team = Sessions(5)
    found = latest(team)
    found.start(1000)
    found.start(2000)
    assert team.told == [5]
