"""What every index finds, and what comes first: one suite for SQLite and for PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.index.database import IN_MEMORY, Index
from holdfast.index.search import ANYTHING, Filter
from holdfast.index.team import TeamIndex
from holdfast.store.postgres import PostgresStore
from tests.contract.indexes import Machine, Place, Team
from tests.postgres import Server
from tests.unit.index.transcripts import BOUNDARY, answered, append, called, said


@pytest.fixture(scope="module")
def team(postgres: Server) -> Iterator[TeamIndex]:
    """One for all tests of this file: to make one takes longer than to use it."""
    with postgres.schema() as url, closing(PostgresStore.at(url)) as store:
        yield TeamIndex(store.database)


@pytest.fixture(params=["sqlite", "postgres"])
def index(request: pytest.FixtureRequest) -> Iterator[Place]:
    with Index(IN_MEMORY) as here:
        if request.param == "sqlite":
            yield Machine(here)
            return
        team: TeamIndex = request.getfixturevalue("team")
        team.database.run("TRUNCATE recall_projects, recall_sessions, recall_pieces")
        yield Team(here, team)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


def lines(index: Place, query: str, only: Filter = ANYTHING, **asked: Any) -> list[int]:
    """The lines found, best first."""
    return [piece.line for piece in index.found(query, only, **asked)]


# Words


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
def test_it_is_found(index: Place, path: Path, text: str, query: str) -> None:
    append(path, said("something else: queue, lock, file"), said(text), said("and more of it"))
    index.fill(path)
    assert lines(index, query)[:1] == [2]


@pytest.mark.parametrize(
    ("text", "query"),
    [("队列重试失败了", "试队"), ("retryWithBackoff", "backoffRetry"), ("done 🎉", "🎈")],
)
def test_it_is_not_found(index: Place, path: Path, text: str, query: str) -> None:
    append(path, said(text))
    index.fill(path)
    assert lines(index, query) == []


@pytest.mark.parametrize(
    "query",
    [
        '"', '""', '"a', "a AND", "AND", "NOT a", "a OR", "(", ")", "a*", "*", "^a", "text:a",
        "{text also}: a", "a + b", "NEAR(a b, 2)", "- a", "a;--", "'; DROP TABLE words; --", "\0a",
        "a\ud83d", "words MATCH 'x'", "%", "_", "\\", "a:b:c", "rowid", "also : x", "🎉🎉",
    ],
)  # fmt: skip
def test_syntax_is_data(index: Place, path: Path, query: str) -> None:
    append(path, said(f"here is {query.replace(chr(0), '')} as it stands"), said("nothing"))
    index.fill(path)
    assert 2 not in lines(index, query)
    assert lines(index, "stands") == [1]


# Ranking and filters


def test_the_exact_words_go_before_the_same_words_apart(index: Place, path: Path) -> None:
    append(path, said("the lock is a global one"), said("no global lock"), said("lock global"))
    index.fill(path)
    assert lines(index, "global lock")[0] == 2


def test_a_name_goes_before_longer_names_that_have_it_in_them(index: Place, path: Path) -> None:
    longer = "const LINUX_MAX_ARG_STRLEN_PAGES: usize = 32;"
    append(path, said(f"{longer} // see MAX_ARG_STRLEN"), said(longer), said(longer))
    index.fill(path)
    first = index.found("MAX_ARG_STRLEN")[0]
    assert (first.line, first.text[first.place - 1 : first.place]) == (1, " ")


def test_a_text_with_all_the_words_goes_before_one_with_some(index: Place, path: Path) -> None:
    append(path, said("the lease of a worker ends"), said("worker worker worker"), said("a lease"))
    index.fill(path)
    assert lines(index, "worker lease")[0] == 1


def test_words_near_each_other_go_first(index: Place, path: Path) -> None:
    far = f"the lease {'of all things ' * 100} ends with a worker"
    append(path, said("the lease is the worker's"), said(far))
    index.fill(path)
    assert lines(index, "lease worker")[0] == 1


def test_a_rare_word_counts_more_than_common_ones(index: Place, path: Path) -> None:
    filler = [said(f"the worker and the queue {number}") for number in range(30)]
    append(path, *filler, said("jitter"), *filler)
    index.fill(path)
    assert lines(index, "the worker and jitter")[0] == 31


def test_an_old_place_of_a_common_word_is_found_by_its_neighbours(index: Place, path: Path) -> None:
    """Only the latest places of a common word are looked at one by one."""
    append(path, said("queue holds obelisk"), *[said(f"queue {n}") for n in range(900)])
    append(path, said("obelisk"))
    index.fill(path)
    assert lines(index, "queue obelisk")[0] == 1


def test_two_common_words_are_found_where_they_meet(index: Place, path: Path) -> None:
    append(path, said("here queue and lease meet"))
    append(
        path, *[said(f"queue {n}") for n in range(900)], *[said(f"lease {n}") for n in range(900)]
    )
    index.fill(path)
    assert lines(index, "lease queue")[0] == 1


def test_what_a_person_said_goes_before_what_was_printed(index: Place, path: Path) -> None:
    append(path, said("use full jitter"), called("t", "Bash"), answered("t", "use full jitter"))
    index.fill(path)
    assert lines(index, "full jitter")[0] == 1


def test_an_earlier_lookup_comes_last(index: Place, path: Path) -> None:
    append(
        path,
        answered("x", "the busiest second was 20012"),
        called("t", "Bash", command="holdfast recall busiest second"),
        answered("t", "L1 tool_result\nthe busiest second was 20012"),
    )
    index.fill(path)
    assert lines(index, "busiest second")[0] == 1


def test_of_equals_the_latest_comes_first(index: Place, path: Path) -> None:
    append(path, said("retry one"), said("retry two"))
    index.fill(path)
    assert lines(index, "retry") == [2, 1]


def test_what_the_model_no_longer_has_goes_before_what_it_has(index: Place, path: Path) -> None:
    old = [said("retry at ten"), *[said("x")] * 40, BOUNDARY, said("retry at six")]
    append(path, *old)
    index.fill(path)
    first, second = index.found("retry")
    assert (first.line, first.before) == (1, True)
    assert (second.line, second.before) == (43, False)


def test_the_session_that_asks_goes_first(index: Place, tmp_path: Path) -> None:
    for session in ("mine", "other"):
        append(tmp_path / session, said(f"retry for {session}"))
        index.fill(tmp_path / session, session)
    assert [piece.session for piece in index.found("retry", own="mine")] == ["mine", "other"]
    assert [piece.session for piece in index.found("retry", own="other")] == ["other", "mine"]


@pytest.fixture
def mixed(index: Place, path: Path) -> Place:
    append(
        path,
        said("jitter please", timestamp="2026-11-01T00:00:00Z"),
        said("jitter it is", "assistant", timestamp="2026-11-02T00:00:00Z"),
        called("t1", "Read", file_path="/srv/app/worker.py"),
        answered("t1", "jitter = 1"),
        BOUNDARY,
        called("t2", "Bash", command="grep jitter worker.py"),
        answered("t2", "2: jitter"),
        said("jitter again", timestamp="2026-11-20T00:00:00Z"),
    )
    index.fill(path)
    return index


@pytest.mark.parametrize(
    ("only", "expected"),
    [
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
    ],
)
def test_filters(mixed: Place, only: dict[str, Any], expected: set[int]) -> None:
    assert set(lines(mixed, "jitter", Filter(**only))) == expected


def test_the_place_is_where_the_words_are(index: Place, path: Path) -> None:
    append(path, said("jitter " + "x " * 2000 + "full jitter " + "y " * 2000))
    index.fill(path)
    (piece,) = index.found("full jitter")
    assert piece.text[piece.place :].startswith("full jitter")


@pytest.mark.parametrize("query", ["", " ", "\n\t", "\0"])
def test_an_empty_question_has_no_answer(index: Place, path: Path, query: str) -> None:
    append(path, said("alpha"))
    index.fill(path)
    assert lines(index, query) == []


@pytest.mark.parametrize(
    "query", ["jitter " * 15_000, "x" * 100_000, "🎉" * 25_000, "a-b_c/" * 9000]
)
def test_a_question_of_100_kilobytes_is_answered(index: Place, path: Path, query: str) -> None:
    append(path, said("full jitter"), said("nothing"))
    index.fill(path)
    assert lines(index, query) == ([1] if "jitter" in query else [])


@pytest.mark.parametrize(
    ("query", "expected"), [("🎉", [1]), ("🎉🎉", [1]), ("🎈🎉", []), ("🧿", [])]
)
def test_signs_alone_are_a_question(index: Place, path: Path, query: str, expected: Any) -> None:
    append(path, said("shipped 🎉🎉"), said("nothing"))
    index.fill(path)
    assert lines(index, query) == expected


def test_signs_alone_are_found_within_their_project_and_session(
    index: Place, tmp_path: Path
) -> None:
    for session, project in (("a1", "/a"), ("a2", "/a"), ("b1", "/b")):
        append(tmp_path / session, said("x => y"))
        index.fill(tmp_path / session, session, project)
    assert [piece.session for piece in index.found("=>", project="/a")] == ["a2", "a1"]
    assert [piece.session for piece in index.found("=>", session="a1")] == ["a1"]
    assert len(index.found("=>", Filter(kinds=("prompt",)))) == 3
    assert index.found("=>", Filter(before_compaction=True), project="/a") == []


def test_a_text_at_its_longest_is_found_by_both_ends(index: Place, path: Path) -> None:
    middle = " ".join(f"w{number}" for number in range(7000))
    append(path, said(f"src/first.py {middle} x_{'y' * 3000} src/last.py"), said("other"))
    index.fill(path)
    for query in ("src/first.py", "src/last.py", "w6500", "first.py w0"):
        assert lines(index, query) == [1], query


# Scopes


def test_a_project_and_a_session_hold_what_is_theirs(index: Place, tmp_path: Path) -> None:
    for session, project in (("a1", "/a"), ("a2", "/a"), ("b1", "/b")):
        append(tmp_path / session, said(f"jitter of {session}"))
        index.fill(tmp_path / session, session, project)

    def sessions(**asked: Any) -> set[str]:
        return {piece.session for piece in index.found("jitter", **asked)}

    assert sessions() == {"a1", "a2", "b1"}
    assert sessions(project="/a") == {"a1", "a2"}
    assert sessions(project="/b") == {"b1"}
    assert sessions(session="a2") == {"a2"}
    assert sessions(project="/nobody's") == sessions(session="a") == set()


def test_what_is_written_later_is_found_and_nothing_twice(index: Place, path: Path) -> None:
    append(path, said("jitter one"))
    index.fill(path)
    index.fill(path)
    append(path, said("jitter two"))
    index.fill(path)
    assert lines(index, "jitter") == [2, 1]


def test_a_transcript_that_was_replaced_is_forgotten(index: Place, path: Path) -> None:
    append(path, said("obelisk"), *[said("queue")] * 20)
    index.fill(path)
    path.unlink()
    append(path, said("monolith"))
    index.fill(path)
    assert lines(index, "obelisk") == lines(index, "queue") == []
    assert lines(index, "monolith") == [1]


def test_a_secret_is_found_nowhere(index: Place, path: Path) -> None:
    token = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1cD3fG5"
    append(path, said(f"export GITHUB_TOKEN={token} for jitter"))
    index.fill(path)
    assert lines(index, token) == []
    assert token not in index.found("jitter")[0].text


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.text(max_size=300))
def test_any_question_can_be_asked(index: Place, query: str) -> None:
    assert index.found(query) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(
    st.text(
        alphabet=st.characters(categories=["L", "N"], max_codepoint=0x4FF), min_size=2, max_size=12
    )
)
def test_any_word_that_was_written_is_found(index: Place, tmp_path: Path, word: str) -> None:
    path = tmp_path / "words.jsonl"
    path.unlink(missing_ok=True)
    append(path, said(f"before {word} after"))
    index.fill(path)
    assert lines(index, word) == [1]
