"""Identifiers, paths, errors and scripts without spaces are found by what a person would type."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.index.database import IN_MEMORY, Index
from holdfast.index.words import indexed, parts_of, phrase, terms

from .transcripts import append, filled, lines, said

FINDS = [
    ("see src/courier/worker.py:49", "worker.py"),
    ("see src/courier/worker.py:49", "src/courier/worker.py"),
    ("see src/courier/worker.py:49", "courier/worker.py:49"),
    ("see src/courier/worker.py:49", "worker"),
    ("call retryWithBackoff() twice", "retryWithBackoff"),
    ("call retryWithBackoff() twice", "backoff"),
    ("call retryWithBackoff() twice", "with backoff"),
    ("call retryWithBackoff() twice", "retry_with_backoff"),
    ("call retry_with_backoff() twice", "retryWithBackoff"),
    ("call retry_with_backoff() twice", "retry_with_backoff"),
    ("call retry_with_backoff() twice", "backoff"),
    ("class HTTPServerError(Exception)", "server error"),
    ("class HTTPServerError(Exception)", "HTTPServerError"),
    ("E   AssertionError: assert ['a'] == ['b']", "AssertionError: assert ['a'] == ['b']"),
    ("TypeError: can't pickle '_thread.lock' object", "_thread.lock"),
    ("KeyError: 'user-id'", "KeyError: 'user-id'"),
    ("ENOENT: no such file, open '/etc/x.conf'", "/etc/x.conf"),
    ("commit 9f8e7d6c5b4a", "9f8e7d6c5b4a"),
    ("version 2.1.325 of it", "2.1.325"),
    ("le résumé est prêt", "resume"),
    ("проверка прошла успешно", "Проверка"),
    ("η δοκιμή απέτυχε", "ΔΟΚΙΜΉ"),
    ("队列重试失败了", "重试"),
    ("队列重试失败了", "重试失败"),
    ("队列重试失败了", "队"),
    ("队列重试失败了", "了"),
    ("キューの再試行が失敗", "再試行"),
    ("한국어를 검색하다", "한국어"),
    ("การทดสอบล้มเหลว", "ทดสอบ"),
    ("修复worker超时", "worker"),
    ("修复worker超时", "超时"),
    ("done 🎉 at last", "🎉"),
    ("a → b", "→"),
    ("x => y", "=>"),
    ("migrations/0001_first.sql", "migr"),
]


@pytest.mark.parametrize(("text", "query"), FINDS)
def test_it_is_found(index: Index, path: Path, text: str, query: str) -> None:
    append(path, said("something else: queue, lock, file"), said(text), said("and more of it"))
    filled(index, path)
    assert lines(index, query)[:1] == [2]


@pytest.mark.parametrize(
    ("text", "query"),
    [("队列重试失败了", "试队"), ("retryWithBackoff", "backoffRetry"), ("done 🎉", "🎈")],
)
def test_it_is_not_found(index: Index, path: Path, text: str, query: str) -> None:
    append(path, said(text))
    filled(index, path)
    assert lines(index, query) == []


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


@pytest.mark.parametrize(
    "query",
    [
        '"', '""', '"a', "a AND", "AND", "NOT a", "a OR", "(", ")", "a*", "*", "^a", "text:a",
        "{text also}: a", "a + b", "NEAR(a b, 2)", "- a", "a;--", "'; DROP TABLE words; --", "\0a",
        "a\ud83d", "words MATCH 'x'", "%", "_", "\\", "a:b:c", "rowid", "also : x", "🎉🎉",
    ],
)  # fmt: skip
def test_syntax_is_data(index: Index, path: Path, query: str) -> None:
    append(path, said(f"here is {query.replace(chr(0), '')} as it stands"), said("nothing"))
    filled(index, path)
    assert 2 not in lines(index, query)
    assert lines(index, "stands") == [1]


@given(st.text(max_size=300))
def test_any_question_can_be_asked(query: str) -> None:
    with Index(IN_MEMORY) as index:
        asked = [*(term.match for term in terms(query)), *filter(None, [phrase(query)])]
        for match in asked:
            found = index.all("found", {"match": match, "low": 0, "high": 9, "most": 9})
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
        values = {"match": term.match, "low": 0, "high": 9, "most": 9}
        assert index.all("found", values) == [{"rowid": 1}]


def test_a_long_question_is_cut_and_not_refused() -> None:
    assert len(terms(" ".join(f"w{number}" for number in range(50_000)))) == 16
    assert len(terms("x" * 100_000)) == 1
