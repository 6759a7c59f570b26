"""Search results and their ranking: one suite for SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.search.index_db import IN_MEMORY, SearchIndex
from holdfast.search.search import NO_FILTER, Filter
from holdfast.search.team_index import TeamIndex
from holdfast.store.postgres import PostgresStore
from tests.cases import report_case
from tests.contract.indexes import ContractIndex, PostgresContractIndex, SqliteContractIndex
from tests.postgres import PostgresServer
from tests.unit.search.transcripts import (
    BOUNDARY,
    append,
    message_line,
    tool_call_line,
    tool_result_line,
)


@pytest.fixture(scope="module")
def team(postgres: PostgresServer) -> Iterator[TeamIndex]:
    """One index for all tests of this file: creating it takes longer than a test."""
    with postgres.create_schema() as url, closing(PostgresStore.at(url)) as store:
        yield TeamIndex(store.database)


@pytest.fixture(params=["sqlite", "postgres"])
def index(request: pytest.FixtureRequest) -> Iterator[ContractIndex]:
    with SearchIndex(IN_MEMORY) as local:
        if request.param == "sqlite":
            yield SqliteContractIndex(local)
            return
        team: TeamIndex = request.getfixturevalue("team")
        team.database.run("TRUNCATE recall_projects, recall_sessions, recall_documents")
        yield PostgresContractIndex(local, team)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


def find_lines(
    index: ContractIndex, query: str, filters: Filter = NO_FILTER, **options: Any
) -> list[int]:
    """Return the lines of the results, best first."""
    return [result.line for result in index.search(query, filters, **options)]


# Words


MATCHING_QUERIES = [
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


def test_a_text_is_found_by_a_query(index: ContractIndex, tmp_path: Path) -> None:
    """Each text is in a separate session, so that it is ingested once for all its queries."""
    sessions: dict[str, str] = {}
    for text, _ in MATCHING_QUERIES:
        if text not in sessions:
            sessions[text] = session = f"s{len(sessions)}"
            append(
                tmp_path / session,
                message_line("something else: queue, lock, file"),
                message_line(text),
                message_line("and more of it"),
            )
            index.ingest(tmp_path / session, session)
    for text, query in MATCHING_QUERIES:
        assert find_lines(index, query, session=sessions[text])[:1] == [2], (text, query)


def test_a_text_is_not_found_by_another_query(index: ContractIndex, path: Path) -> None:
    cases = [("队列重试失败了", "试队"), ("retryWithBackoff", "backoffRetry"), ("done 🎉", "🎈")]
    append(path, *(message_line(text) for text, _ in cases))
    index.ingest(path)
    for text, query in cases:
        assert find_lines(index, query) == [], (text, query)


QUERY_SYNTAX = [
    '"', '""', '"a', "a AND", "AND", "NOT a", "a OR", "(", ")", "a*", "*", "^a", "text:a",
    "{text also}: a", "a + b", "NEAR(a b, 2)", "- a", "a;--", "'; DROP TABLE words; --", "\0a",
    "a\ud83d", "words MATCH 'x'", "%", "_", "\\", "a:b:c", "rowid", "also : x", "🎉🎉",
]  # fmt: skip


def test_query_syntax_is_treated_as_text(index: ContractIndex, tmp_path: Path) -> None:
    for number, query in enumerate(QUERY_SYNTAX):
        with report_case(query):
            session = f"s{number}"
            append(
                tmp_path / session,
                message_line(f"here is {query.replace(chr(0), '')} as written"),
                message_line("nothing"),
            )
            index.ingest(tmp_path / session, session)
            assert 2 not in find_lines(index, query, session=session)
            assert find_lines(index, "written", session=session) == [1]


# Ranking and filters


def test_the_exact_phrase_ranks_before_the_same_words_apart(
    index: ContractIndex, path: Path
) -> None:
    append(
        path,
        message_line("the lock is a global one"),
        message_line("no global lock"),
        message_line("lock global"),
    )
    index.ingest(path)
    assert find_lines(index, "global lock")[0] == 2


def test_a_name_ranks_before_longer_names_that_contain_it(index: ContractIndex, path: Path) -> None:
    longer = "const LINUX_MAX_ARG_STRLEN_PAGES: usize = 32;"
    append(
        path,
        message_line(f"{longer} // see MAX_ARG_STRLEN"),
        message_line(longer),
        message_line(longer),
    )
    index.ingest(path)
    first = index.search("MAX_ARG_STRLEN")[0]
    assert (first.line, first.text[first.position - 1 : first.position]) == (1, " ")


def test_a_text_with_all_words_ranks_before_one_with_some(index: ContractIndex, path: Path) -> None:
    append(
        path,
        message_line("the lease of a worker ends"),
        message_line("worker worker worker"),
        message_line("a lease"),
    )
    index.ingest(path)
    assert find_lines(index, "worker lease")[0] == 1


def test_words_near_each_other_rank_first(index: ContractIndex, path: Path) -> None:
    far = f"the lease {'of all things ' * 100} ends with a worker"
    append(path, message_line("the lease is the worker's"), message_line(far))
    index.ingest(path)
    assert find_lines(index, "lease worker")[0] == 1


def test_a_rare_word_counts_more_than_common_ones(index: ContractIndex, path: Path) -> None:
    filler = [message_line(f"the worker and the queue {number}") for number in range(30)]
    append(path, *filler, message_line("jitter"), *filler)
    index.ingest(path)
    assert find_lines(index, "the worker and jitter")[0] == 31


def test_an_old_match_of_a_common_word_is_found_together_with_a_rare_word(
    index: ContractIndex, path: Path
) -> None:
    """Only the latest matches of a common word are read one by one."""
    append(
        path, message_line("queue holds obelisk"), *[message_line(f"queue {n}") for n in range(900)]
    )
    append(path, message_line("obelisk"))
    index.ingest(path)
    assert find_lines(index, "queue obelisk")[0] == 1


def test_two_common_words_are_found_together(index: ContractIndex, path: Path) -> None:
    append(path, message_line("here queue and lease meet"))
    append(
        path,
        *[message_line(f"queue {n}") for n in range(900)],
        *[message_line(f"lease {n}") for n in range(900)],
    )
    index.ingest(path)
    assert find_lines(index, "lease queue")[0] == 1


def test_a_prompt_ranks_before_printed_output(index: ContractIndex, path: Path) -> None:
    append(
        path,
        message_line("use full jitter"),
        tool_call_line("t", "Bash"),
        tool_result_line("t", "use full jitter"),
    )
    index.ingest(path)
    assert find_lines(index, "full jitter")[0] == 1


def test_an_earlier_lookup_ranks_last(index: ContractIndex, path: Path) -> None:
    append(
        path,
        tool_result_line("x", "the busiest second was 20012"),
        tool_call_line("t", "Bash", command="holdfast recall busiest second"),
        tool_result_line("t", "L1 tool_result\nthe busiest second was 20012"),
    )
    index.ingest(path)
    assert find_lines(index, "busiest second")[0] == 1


def test_of_equal_results_the_latest_ranks_first(index: ContractIndex, path: Path) -> None:
    append(path, message_line("retry one"), message_line("retry two"))
    index.ingest(path)
    assert find_lines(index, "retry") == [2, 1]


def test_texts_before_the_compaction_rank_first(index: ContractIndex, path: Path) -> None:
    old = [
        message_line("retry at ten"),
        *[message_line("x")] * 40,
        BOUNDARY,
        message_line("retry at six"),
    ]
    append(path, *old)
    index.ingest(path)
    first, second = index.search("retry")
    assert (first.line, first.before_compaction) == (1, True)
    assert (second.line, second.before_compaction) == (43, False)


def test_the_own_session_ranks_first(index: ContractIndex, tmp_path: Path) -> None:
    for session in ("mine", "other"):
        append(tmp_path / session, message_line(f"retry for {session}"))
        index.ingest(tmp_path / session, session)
    assert [result.session for result in index.search("retry", own_session="mine")] == [
        "mine",
        "other",
    ]
    assert [result.session for result in index.search("retry", own_session="other")] == [
        "other",
        "mine",
    ]


@pytest.fixture
def mixed_index(index: ContractIndex, path: Path) -> ContractIndex:
    append(
        path,
        message_line("jitter please", timestamp="2026-11-01T00:00:00Z"),
        message_line("jitter it is", "assistant", timestamp="2026-11-02T00:00:00Z"),
        tool_call_line("t1", "Read", file_path="/srv/app/worker.py"),
        tool_result_line("t1", "jitter = 1"),
        BOUNDARY,
        tool_call_line("t2", "Bash", command="grep jitter worker.py"),
        tool_result_line("t2", "2: jitter"),
        message_line("jitter again", timestamp="2026-11-20T00:00:00Z"),
    )
    index.ingest(path)
    return index


def test_filters_restrict_the_results(mixed_index: ContractIndex) -> None:
    cases = [
        ({}, {1, 2, 4, 6, 7, 8}),
        ({"kinds": ("prompt",)}, {1, 8}),
        ({"kinds": ("prompt", "reply")}, {1, 2, 8}),
        ({"kinds": ("tool_call",)}, {6}),
        ({"tool": "Read"}, {4}),
        ({"tool": "bash"}, {6, 7}),
        ({"tool": "Rea"}, set()),
        ({"file": "worker.py"}, {4, 6}),
        ({"file": "app/worker.py"}, {4}),
        ({"file": "other.py"}, set()),
        ({"file": "/"}, set()),
        ({"file": '" OR jitter'}, set()),
        ({"since": 1_795_000_000.0}, {8}),
        ({"before_compaction": True}, {1, 2, 4}),
        ({"before_compaction": True, "kinds": ("reply",)}, {2}),
    ]
    for filters, expected in cases:
        assert set(find_lines(mixed_index, "jitter", Filter(**filters))) == expected, filters


def test_the_position_is_where_the_words_are(index: ContractIndex, path: Path) -> None:
    append(path, message_line("jitter " + "x " * 2000 + "full jitter " + "y " * 2000))
    index.ingest(path)
    (result,) = index.search("full jitter")
    assert result.text[result.position :].startswith("full jitter")


def test_an_empty_query_has_no_results(index: ContractIndex, path: Path) -> None:
    append(path, message_line("alpha"))
    index.ingest(path)
    for query in ["", " ", "\n\t", "\0"]:
        assert find_lines(index, query) == [], query


def test_a_query_of_100_kilobytes_is_answered(index: ContractIndex, path: Path) -> None:
    append(path, message_line("full jitter"), message_line("nothing"))
    index.ingest(path)
    for query in ["jitter " * 15_000, "x" * 100_000, "🎉" * 25_000, "a-b_c/" * 9000]:
        assert find_lines(index, query) == ([1] if "jitter" in query else []), query[:20]


def test_a_query_of_symbols_alone_finds_text(index: ContractIndex, path: Path) -> None:
    append(path, message_line("shipped 🎉🎉"), message_line("nothing"))
    index.ingest(path)
    for query, expected in [("🎉", [1]), ("🎉🎉", [1]), ("🎈🎉", []), ("🧿", [])]:
        assert find_lines(index, query) == expected, query


def test_a_query_of_symbols_alone_respects_the_scope(index: ContractIndex, tmp_path: Path) -> None:
    for session, project in (("a1", "/a"), ("a2", "/a"), ("b1", "/b")):
        append(tmp_path / session, message_line("x => y"))
        index.ingest(tmp_path / session, session, project)
    assert [result.session for result in index.search("=>", project="/a")] == ["a2", "a1"]
    assert [result.session for result in index.search("=>", session="a1")] == ["a1"]
    assert len(index.search("=>", Filter(kinds=("prompt",)))) == 3
    assert index.search("=>", Filter(before_compaction=True), project="/a") == []


def test_the_longest_text_is_found_by_its_beginning_and_end(
    index: ContractIndex, path: Path
) -> None:
    middle = " ".join(f"w{number}" for number in range(7000))
    append(
        path,
        message_line(f"src/first.py {middle} x_{'y' * 3000} src/last.py"),
        message_line("other"),
    )
    index.ingest(path)
    for query in ("src/first.py", "src/last.py", "w6500", "first.py w0"):
        assert find_lines(index, query) == [1], query


# Scopes


def test_a_scope_returns_only_its_own_documents(index: ContractIndex, tmp_path: Path) -> None:
    for session, project in (("a1", "/a"), ("a2", "/a"), ("b1", "/b")):
        append(tmp_path / session, message_line(f"jitter of {session}"))
        index.ingest(tmp_path / session, session, project)

    def sessions(**options: Any) -> set[str]:
        return {result.session for result in index.search("jitter", **options)}

    assert sessions() == {"a1", "a2", "b1"}
    assert sessions(project="/a") == {"a1", "a2"}
    assert sessions(project="/b") == {"b1"}
    assert sessions(session="a2") == {"a2"}
    assert sessions(project="/unknown") == sessions(session="a") == set()


def test_later_lines_are_added_and_no_line_is_indexed_twice(
    index: ContractIndex, path: Path
) -> None:
    append(path, message_line("jitter one"))
    index.ingest(path)
    index.ingest(path)
    append(path, message_line("jitter two"))
    index.ingest(path)
    assert find_lines(index, "jitter") == [2, 1]


def test_documents_of_a_replaced_transcript_are_removed(index: ContractIndex, path: Path) -> None:
    append(path, message_line("obelisk"), *[message_line("queue")] * 20)
    index.ingest(path)
    path.unlink()
    append(path, message_line("monolith"))
    index.ingest(path)
    assert find_lines(index, "obelisk") == find_lines(index, "queue") == []
    assert find_lines(index, "monolith") == [1]


def test_a_secret_is_not_in_the_index(index: ContractIndex, path: Path) -> None:
    token = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1cD3fG5"
    append(path, message_line(f"export GITHUB_TOKEN={token} for jitter"))
    index.ingest(path)
    assert find_lines(index, token) == []
    assert token not in index.search("jitter")[0].text


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.text(max_size=300))
def test_any_text_is_a_valid_query(index: ContractIndex, query: str) -> None:
    assert index.search(query) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(
    st.text(
        alphabet=st.characters(categories=["L", "N"], max_codepoint=0x4FF), min_size=2, max_size=12
    )
)
def test_any_indexed_word_is_found(index: ContractIndex, tmp_path: Path, word: str) -> None:
    path = tmp_path / "words.jsonl"
    path.unlink(missing_ok=True)
    append(path, message_line(f"before {word} after"))
    index.ingest(path)
    assert find_lines(index, word) == [1]
