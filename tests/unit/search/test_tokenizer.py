"""Identifiers, words and scripts without spaces are indexed so that queries find them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.search.index_db import IN_MEMORY, SearchIndex
from holdfast.search.sqlite_query import to_fts5_query
from holdfast.search.tokenizer import (
    parse_terms,
    split_camel_case,
    to_indexed_text,
    to_phrase_match,
)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("retryWithBackoff", ["retry", "With", "Backoff"]),
        ("HTTPServer", ["HTTP", "Server"]),
        ("utf8Decode", ["utf8", "Decode"]),
        ("plain", ["plain"]),
    ],
)
def test_a_camel_case_name_is_split_into_its_parts(name: str, parts: list[str]) -> None:
    assert split_camel_case(name) == parts


def test_scripts_without_spaces_are_indexed_as_pairs_only() -> None:
    text, extra_terms = to_indexed_text("修复 queue")
    assert "修复" not in text
    assert extra_terms.split() == ["修复", "复"]


@given(st.text(max_size=300))
def test_any_text_is_a_valid_query(query: str) -> None:
    with SearchIndex(IN_MEMORY) as index:
        matches = [
            *(term.match for term in parse_terms(query)),
            *filter(None, [to_phrase_match(query)]),
        ]
        for match in matches:
            rows = index.fetch_all(
                "match", {"match": to_fts5_query(match), "low": 0, "high": 9, "limit": 9}
            )
            assert list(rows) == [], "the index is empty, and the query is valid"


@given(
    st.text(
        alphabet=st.characters(categories=["L", "N"], max_codepoint=0x4FF), min_size=2, max_size=12
    )
)
def test_any_indexed_word_is_found(word: str) -> None:
    with SearchIndex(IN_MEMORY) as index:
        index.execute_many("add_words", [(1, *to_indexed_text(f"before {word} after"))])
        (term,) = parse_terms(word)
        values = {"match": to_fts5_query(term.match), "low": 0, "high": 9, "limit": 9}
        assert index.fetch_all("match", values) == [{"rowid": 1}]


def test_a_long_query_is_cut() -> None:
    assert len(parse_terms(" ".join(f"w{number}" for number in range(50_000)))) == 16
    assert len(parse_terms("x" * 100_000)) == 1
