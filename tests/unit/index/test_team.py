"""What is particular to PostgreSQL: its words, and which way to a word is the shorter one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.index.database import IN_MEMORY, Index
from holdfast.index.search import ANYTHING, MOST_PLACES
from holdfast.index.sending import send
from holdfast.index.team import TeamIndex
from holdfast.index.vector import query, share, vector, words
from holdfast.index.words import match, terms
from holdfast.store.postgres import PostgresStore

from .transcripts import NOW, append, filled, said


@pytest.fixture
def team(postgres_url: str, tmp_path: Path) -> Iterator[TeamIndex]:
    """A session of many lines, which all have one word."""
    path = tmp_path / "session.jsonl"
    append(path, *[said(f"queue {number}") for number in range(1500)], said("queue obelisk"))
    with closing(PostgresStore.at(postgres_url)) as store, Index(IN_MEMORY) as index:
        filled(index, path)
        (row,) = index.all("standings")
        made = TeamIndex(store.database)
        send(index, row, made, "p", NOW)
        yield made


def test_a_common_word_is_looked_for_one_by_one_and_a_rare_one_at_once(team: TeamIndex) -> None:
    asked = ["queue", "obelisk", "queue 17", "obel*"]
    scope = team.scope(None, None)
    assert scope is not None

    def found() -> list[list[int]]:
        lookup = team.lookup(scope, ANYTHING)
        return [lookup.places(term.match) for word in asked for term in terms(word)]

    assert not any(team.is_common(match(word)) for word in asked), "nothing was counted yet"
    before = found()
    team.database.run("ANALYZE recall_pieces")
    again = TeamIndex(team.database)
    assert [again.is_common(match(word)) for word in asked] == [True, False, False, False]
    team.__dict__.pop("_counted")
    assert found() == before
    assert len(before[0]) == MOST_PLACES
    assert before[0] == sorted(before[0], reverse=True)


def test_a_question_is_as_common_as_its_rarest_need() -> None:
    known = {"a": 0.5, "b": 0.1}
    for text, expected in (("a", 0.5), ("a/b", 0.1), ("a/c", 0.0), ("c", 0.0), ("", 0.0)):
        assert share(match(text), known) == expected
    assert share((*match("a"), *match("b")), known) == 0.1


def test_words_are_those_that_fts5_would_have() -> None:
    assert words("src/Worker.py:49, RÉSUMÉ_x") == ["src", "worker", "py", "49", "resume", "x"]
    assert words("がぎ") == ["がぎ"], "such a mark makes another letter"


def test_a_vector_tells_places_and_keeps_what_was_added_apart() -> None:
    assert vector("to be to", "x") == "'to':1,3 'be':2 'x':5"
    assert vector("") == ""


def test_of_very_many_places_the_first_are_kept_and_no_number_is_too_large() -> None:
    told = vector("a " * 20_000 + "end")
    places = told.split(" ")[0].partition(":")[2].split(",")
    assert len(places) == 255
    assert told.endswith(f"'end':{20_000 % 16_383 + 1}")


def test_no_sign_of_a_question_is_syntax() -> None:
    assert query(match("it's:*&!(x)")) == "(('it' <-> 's' <-> 'x'))"
    assert query(match("retryWith")) == "(('retrywith') | ('retry' <-> 'with'))"
    assert query(()) == ""
