"""What is particular to PostgreSQL: its words, and how far back a word is looked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.index.database import IN_MEMORY, Index
from holdfast.index.lexemes import in_order, query, rows, share, stretch, words
from holdfast.index.search import ANYTHING, MOST_PLACES, Filter, search
from holdfast.index.sending import send
from holdfast.index.team import TeamIndex
from holdfast.index.words import beginning, match, terms
from holdfast.store.postgres import PostgresStore
from tests.unit.index.transcripts import NOW, append, filled, said


@pytest.fixture
def team(postgres_place: str, tmp_path: Path) -> Iterator[TeamIndex]:
    """Sessions of many lines, which all have one word; every fifth has another, too."""
    with closing(PostgresStore.at(postgres_place)) as store, Index(IN_MEMORY) as index:
        made = TeamIndex(store.database)
        for session in range(20):
            path = tmp_path / f"{session}.jsonl"
            lines = [f"queue {n}{' a lease' * (not n % 5)}" for n in range(200)]
            append(path, *map(said, lines), said("queue obelisk"), *[said("monolith")][session:])
            filled(index, path, session=f"s{session}")
        for row in reversed(index.all("standings")):
            send(index, row, made, "p", NOW)
        yield made


class Told:
    """A database that notes what it is asked."""

    def __init__(self, database: Any) -> None:
        self._database = database
        self.values: list[Any] = []

    def run(self, statement: str, values: Any = ()) -> Any:
        if "AS MATERIALIZED" in statement:
            self.values.append(values)
        return self._database.run(statement, values)


ASKED = ["queue", "lease", "obelisk", "queue 17", "a/lease", "lease/a"]


def found(team: TeamIndex, only: Filter = ANYTHING) -> list[list[int]]:
    scope = team.scope("p", None)
    assert scope is not None
    lookup = team.lookup(scope, only)
    return [lookup.places(term.match) for word in ASKED for term in terms(word)]


def test_what_is_found_does_not_depend_on_what_was_counted(
    team: TeamIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.index.tsearch.SMALLEST_STRETCH", 100)
    monkeypatch.setattr("holdfast.index.tsearch.PLENTY", 50)
    filters = (ANYTHING, Filter(kinds=("prompt",)), Filter(kinds=("reply",)))
    before = [found(team, only) for only in filters]
    assert team.counted == ({}, 0.0)
    team.database.run("ANALYZE recall_pieces")
    counted = TeamIndex(team.database)
    assert counted.counted.texts == 4021
    assert counted.counted.shares["lease"] == pytest.approx(0.2, abs=0.01)
    assert [found(counted, only) for only in filters] == before
    assert before[0][0] == sorted(before[0][0], reverse=True)
    assert [len(some) for some in before[0]] == [400, 400, 20, 400, 20, 400, 0]


def test_of_a_common_word_only_the_latest_sessions_are_looked_at(
    team: TeamIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.index.tsearch.SMALLEST_STRETCH", 100)
    monkeypatch.setattr("holdfast.index.tsearch.PLENTY", 50)
    team.database.run("ANALYZE recall_pieces")
    told = Told(team.database)
    scope = team.scope(None, None)
    assert scope is not None
    lookup = TeamIndex(told).lookup(scope, ANYTHING)  # type: ignore[arg-type]
    assert len(lookup.places(match("queue"))) == MOST_PLACES
    first, *more = told.values
    assert first["told1"].count("_s") < 10
    assert not more
    told.values.clear()
    assert lookup.places(match("lease/a")) == [], "words that stand together, but not in this order"
    starts = [values["low"] for values in told.values]
    assert starts == sorted(starts, reverse=True)
    assert starts[-1] == 0


def test_common_words_are_not_asked_for_where_a_rare_one_does_not_stand(
    team: TeamIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.index.tsearch.RECENT", 300)
    told = Told(team.database)
    scope = team.scope(None, None)
    first, *_ = search(TeamIndex(told), "queue monolith", scope)  # type: ignore[arg-type]
    assert first.session == "s0"
    assert [values["told0"] for values in told.values] == ["(('queue'))", "(('monolith'))"]


def test_a_question_is_at_most_as_common_as_its_rarest_need() -> None:
    known = {"a": 0.5, "b": 0.1}
    for text, most, likely in (
        ("a", 0.5, 0.5), ("a/b", 0.1, 0.05), ("a/c", 0.025, 0.0125), ("c", 0.025, 0.025),
    ):  # fmt: skip
        assert share(match(text), known) == pytest.approx((most, likely)), text
    assert share((*match("a"), *match("b")), known) == pytest.approx((0.1, 0.05))
    assert share(match("aB"), known | {"ab": 0.2}) == pytest.approx((0.3, 0.25))
    assert share(match("a"), {}).most == 0.0


def test_words_are_those_that_fts5_would_have() -> None:
    assert words("src/Worker.py:49, RÉSUMÉ_x") == ["src", "worker", "py", "49", "resume", "x"]
    assert words("がぎ") == ["がぎ"], "such a mark makes another letter"


def test_words_are_kept_in_order_and_what_was_added_apart() -> None:
    assert in_order("to be, to", "x.py") == "to be to _ x py"
    assert in_order("plain") == "plain"
    assert in_order("") == in_order("?!") == ""


def test_no_sign_of_a_question_is_syntax() -> None:
    assert query(match("it's:*&!(x)")) == "(('it' & 's' & 'x'))"
    assert query(match("retryWith")) == "(('retrywith') | ('retry' & 'with'))"
    assert query(()) == ""
    assert rows(match("100%_x\\")) == [["% 100 x %"]]


def test_words_in_a_row_are_told_apart_from_single_ones() -> None:
    assert rows(match("worker")) == []
    assert rows(match("src/worker.py")) == [["% src worker py %"]]
    assert rows(match("retryWith")) == [["% retrywith %", "% retry with %"]]
    (term,) = terms("src/wor")
    assert rows(beginning(term)) == [["% src wor%"]]


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
def test_a_stretch_of_sessions_is_a_few_words(first: int, last: int, expected: str) -> None:
    assert stretch(first, last) == expected


@given(st.integers(0, 9000), st.integers(0, 9000))
def test_a_stretch_begins_where_it_should_and_leaves_nothing_out(first: int, count: int) -> None:
    told = stretch(first, first + count).split(" | ")
    widths = {"_s": 1, "_t": 16, "_u": 256, "_v": 4096}
    starts = [(int(word[2:]) * widths[word[:2]], widths[word[:2]]) for word in told]
    assert starts[0][0] == first
    assert all(at + width == more for (at, width), (more, _) in pairwise(starts))
    assert sum(starts[-1]) > first + count
    assert len(told) < 80
