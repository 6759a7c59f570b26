"""The window of recent sessions that together contain a number of documents."""

from __future__ import annotations

from typing import Any

from holdfast.search import document_ids
from holdfast.search.pg_query import FIRST_PAGE_SESSIONS, PAGE_GROWTH, RecentSessions
from holdfast.search.team_index import TeamScope

ALL_SESSIONS = TeamScope(0, document_ids.ALL_IDS)


class FakeTeamIndex:
    """An index with sessions of ten documents each; it records the sizes of the pages read."""

    def __init__(self, count: int) -> None:
        self.numbers = [*range(count, 0, -1)]
        self.page_sizes: list[int] = []

    def fetch_all(self, _: str, *, before: int, limit: int, **values: Any) -> list[dict[str, int]]:
        end = min(before, values["last"] + 1)
        page = [number for number in self.numbers if values["first"] <= number < end][:limit]
        self.page_sizes.append(len(page))
        return [{"number": number, "documents": 10} for number in page]


def make_recent_sessions(team: Any, scope: TeamScope = ALL_SESSIONS) -> RecentSessions:
    return RecentSessions(team, scope, 0.0)


def first_id(number: int) -> int:
    return document_ids.session_range(number)[0]


def test_the_window_starts_at_the_session_that_completes_the_count() -> None:
    recent = make_recent_sessions(FakeTeamIndex(1000))
    for documents, number in ((1, 1000), (10, 1000), (11, 999), (5000, 501), (10_000, 1)):
        assert recent.start(documents) == first_id(number)


def test_with_too_few_documents_the_window_is_the_whole_scope() -> None:
    assert make_recent_sessions(FakeTeamIndex(5)).start(51) == 0
    assert make_recent_sessions(FakeTeamIndex(0)).start(1) == 0
    session_scope = TeamScope(0, document_ids.session_range(3))
    assert make_recent_sessions(FakeTeamIndex(5), session_scope).start(51) == first_id(3)
    assert make_recent_sessions(FakeTeamIndex(5), session_scope).start(5) == first_id(3)


def test_sessions_are_read_only_as_far_back_as_needed() -> None:
    team = FakeTeamIndex(10_000)
    recent = make_recent_sessions(team)
    recent.start(500)
    recent.start(600)
    assert team.page_sizes == [FIRST_PAGE_SESSIONS]
    recent.start(700)
    assert team.page_sizes == [FIRST_PAGE_SESSIONS, FIRST_PAGE_SESSIONS * PAGE_GROWTH]


def test_a_complete_list_of_sessions_is_not_read_again() -> None:
    team = FakeTeamIndex(5)
    recent = make_recent_sessions(team)
    recent.start(1000)
    recent.start(2000)
    assert team.page_sizes == [5]
