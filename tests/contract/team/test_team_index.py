"""The parts that only the PostgreSQL index has: its tokenizer and its search window."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.search.index_db import IN_MEMORY, SearchIndex
from holdfast.search.pg_tokenizer import (
    estimate_share,
    sessions_tsquery,
    split_words,
    to_like_patterns,
    to_tsquery,
    to_word_sequence,
)
from holdfast.search.push import push_session
from holdfast.search.search import MAX_MATCHES_PER_TERM, NO_FILTER, Filter, search
from holdfast.search.team_index import TeamIndex
from holdfast.search.tokenizer import parse_terms, to_match, to_prefix_match
from holdfast.store.postgres import PostgresStore
from tests.unit.search.transcripts import NOW, append, ingest_file, message_line


@pytest.fixture
def team(migrated_postgres_url: str, tmp_path: Path) -> Iterator[TeamIndex]:
    """Twenty sessions of 200 lines with a common word; every fifth line has a second word."""
    with closing(PostgresStore.at(migrated_postgres_url)) as store, SearchIndex(IN_MEMORY) as index:
        team_index = TeamIndex(store.database)
        for session in range(20):
            path = tmp_path / f"{session}.jsonl"
            lines = [f"queue {n}{' a lease' * (not n % 5)}" for n in range(200)]
            append(
                path,
                *map(message_line, lines),
                message_line("queue obelisk"),
                *[message_line("monolith")][session:],
            )
            ingest_file(index, path, session=f"s{session}")
        for row in reversed(index.fetch_all("session_states")):
            push_session(index, row, team_index, "p", NOW)
        yield team_index


class RecordingDatabase:
    """A database that records the values of its queries."""

    def __init__(self, database: Any) -> None:
        self._database = database
        self.values: list[Any] = []

    def run(self, statement: str, values: Any = ()) -> Any:
        if "AS MATERIALIZED" in statement:
            self.values.append(values)
        return self._database.run(statement, values)


QUERIES = ["queue", "lease", "obelisk", "queue 17", "a/lease", "lease/a"]


def find_documents(team: TeamIndex, filters: Filter = NO_FILTER) -> list[list[int]]:
    scope = team.scope("p", None)
    assert scope is not None
    lookup = team.lookup(scope, filters)
    return [lookup.find(term.match) for word in QUERIES for term in parse_terms(word)]


def test_results_do_not_depend_on_the_statistics(
    team: TeamIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.search.pg_query.MIN_WINDOW_DOCUMENTS", 100)
    monkeypatch.setattr("holdfast.search.pg_query.MIN_MATCHES_TO_NARROW", 50)
    filter_cases = (NO_FILTER, Filter(kinds=("prompt",)), Filter(kinds=("reply",)))
    before = [find_documents(team, filters) for filters in filter_cases]
    assert team.word_statistics == ({}, 0.0)
    team.database.run("ANALYZE recall_documents")
    analyzed = TeamIndex(team.database)
    assert analyzed.word_statistics.texts == 4021
    assert analyzed.word_statistics.shares["lease"] == pytest.approx(0.2, abs=0.01)
    assert [find_documents(analyzed, filters) for filters in filter_cases] == before
    assert before[0][0] == sorted(before[0][0], reverse=True)
    assert [len(documents) for documents in before[0]] == [400, 400, 20, 400, 20, 400, 0]


def test_for_a_common_word_only_the_latest_sessions_are_searched(
    team: TeamIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.search.pg_query.MIN_WINDOW_DOCUMENTS", 100)
    monkeypatch.setattr("holdfast.search.pg_query.MIN_MATCHES_TO_NARROW", 50)
    team.database.run("ANALYZE recall_documents")
    recorder = RecordingDatabase(team.database)
    scope = team.scope(None, None)
    assert scope is not None
    lookup = TeamIndex(recorder).lookup(scope, NO_FILTER)  # type: ignore[arg-type]
    assert len(lookup.find(to_match("queue"))) == MAX_MATCHES_PER_TERM
    first, *more = recorder.values
    assert first["tsquery1"].count("_s") < 10
    assert not more
    recorder.values.clear()
    assert lookup.find(to_match("lease/a")) == [], "the words are adjacent, but in the other order"
    starts = [values["low"] for values in recorder.values]
    assert starts == sorted(starts, reverse=True)
    assert starts[-1] == 0


def test_common_words_are_not_searched_where_a_rare_one_is_missing(
    team: TeamIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.search.pg_query.RECENT_DOCUMENTS", 300)
    recorder = RecordingDatabase(team.database)
    scope = team.scope(None, None)
    first, *_ = search(TeamIndex(recorder), "queue monolith", scope)  # type: ignore[arg-type]
    assert first.session == "s0"
    assert [values["tsquery0"] for values in recorder.values] == ["(('queue'))", "(('monolith'))"]


def test_a_query_is_at_most_as_common_as_its_rarest_required_word() -> None:
    shares = {"a": 0.5, "b": 0.1}
    for text, upper_bound, expected in (
        ("a", 0.5, 0.5), ("a/b", 0.1, 0.05), ("a/c", 0.025, 0.0125), ("c", 0.025, 0.025),
    ):  # fmt: skip
        assert estimate_share(to_match(text), shares) == pytest.approx((upper_bound, expected)), (
            text
        )
    assert estimate_share((*to_match("a"), *to_match("b")), shares) == pytest.approx((0.1, 0.05))
    assert estimate_share(to_match("aB"), shares | {"ab": 0.2}) == pytest.approx((0.3, 0.25))
    assert estimate_share(to_match("a"), {}).upper_bound == 0.0


def test_words_are_the_same_as_in_fts5() -> None:
    assert split_words("src/Worker.py:49, RÉSUMÉ_x") == ["src", "worker", "py", "49", "resume", "x"]
    assert split_words("がぎ") == ["がぎ"], "here a mark is part of the letter"


def test_words_are_stored_in_order_and_added_words_separately() -> None:
    assert to_word_sequence("to be, to", "x.py") == "to be to _ x py"
    assert to_word_sequence("plain") == "plain"
    assert to_word_sequence("") == to_word_sequence("?!") == ""


def test_special_characters_of_a_query_are_not_syntax() -> None:
    assert to_tsquery(to_match("it's:*&!(x)")) == "(('it' & 's' & 'x'))"
    assert to_tsquery(to_match("retryWith")) == "(('retrywith') | ('retry' & 'with'))"
    assert to_tsquery(()) == ""
    assert to_like_patterns(to_match("100%_x\\")) == [["% 100 x %"]]


def test_phrases_are_distinguished_from_single_words() -> None:
    assert to_like_patterns(to_match("worker")) == []
    assert to_like_patterns(to_match("src/worker.py")) == [["% src worker py %"]]
    assert to_like_patterns(to_match("retryWith")) == [["% retrywith %", "% retry with %"]]
    (term,) = parse_terms("src/wor")
    assert to_like_patterns(to_prefix_match(term)) == [["% src wor%"]]


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (5, 5, "_s5"),
        (5, 7, "_s5 | _s6 | _s7"),
        (30, 60, "_s30 | _s31 | _t2 | _t3"),
        (496, 1300, "_t31 | _u2 | _u3 | _u4 | _u5"),
        (4096, 100_000, " | ".join(f"_v{number}" for number in range(1, 25))),
    ],
)
def test_a_range_of_sessions_is_expressed_with_few_words(
    first: int, last: int, expected: str
) -> None:
    assert sessions_tsquery(first, last) == expected


@given(st.integers(0, 9000), st.integers(0, 9000))
def test_a_range_starts_in_the_right_place_and_has_no_gaps(first: int, count: int) -> None:
    words = sessions_tsquery(first, first + count).split(" | ")
    widths = {"_s": 1, "_t": 16, "_u": 256, "_v": 4096}
    starts = [(int(word[2:]) * widths[word[:2]], widths[word[:2]]) for word in words]
    assert starts[0][0] == first
    assert all(start + width == next_start for (start, width), (next_start, _) in pairwise(starts))
    assert sum(starts[-1]) > first + count
    assert len(words) < 80
