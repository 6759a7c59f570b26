"""Identifiers, paths, errors and scripts without spaces are found by what a person would type."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.index.database import IN_MEMORY, Index
from holdfast.index.fts5 import written
from holdfast.index.words import indexed, parts_of, phrase, terms


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("retryWithBackoff", ["retry", "With", "Backoff"]),
        ("HTTPServer", ["HTTP", "Server"]),
        ("utf8Decode", ["utf8", "Decode"]),
        ("plain", ["plain"]),
    ],
)
def test_a_name_has_parts(name: str, parts: list[str]) -> None:
    assert parts_of(name) == parts


def test_scripts_without_spaces_are_kept_as_pairs_only() -> None:
    text, also = indexed("修复 queue")
    assert "修复" not in text
    assert also.split() == ["修复", "复"]


@given(st.text(max_size=300))
def test_any_question_can_be_asked(query: str) -> None:
    with Index(IN_MEMORY) as index:
        asked = [*(term.match for term in terms(query)), *filter(None, [phrase(query)])]
        for match in asked:
            found = index.all("found", {"match": written(match), "low": 0, "high": 9, "most": 9})
            assert list(found) == [], "nothing is in it, and no syntax error either"


@given(
    st.text(
        alphabet=st.characters(categories=["L", "N"], max_codepoint=0x4FF), min_size=2, max_size=12
    )
)
def test_any_word_that_was_written_is_found(word: str) -> None:
    with Index(IN_MEMORY) as index:
        index.many("add_words", [(1, *indexed(f"before {word} after"))])
        (term,) = terms(word)
        values = {"match": written(term.match), "low": 0, "high": 9, "most": 9}
        assert index.all("found", values) == [{"rowid": 1}]


def test_a_long_question_is_cut_and_not_refused() -> None:
    assert len(terms(" ".join(f"w{number}" for number in range(50_000)))) == 16
    assert len(terms("x" * 100_000)) == 1
