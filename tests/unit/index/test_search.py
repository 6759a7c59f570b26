"""The best answer comes first: by words, nearness, kind, age, and what the model no longer has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast.index.database import Index
from holdfast.index.search import Filter

from .transcripts import BOUNDARY, answered, append, called, filled, found, lines, said


def test_the_exact_words_go_before_the_same_words_apart(index: Index, path: Path) -> None:
    append(path, said("the lock is a global one"), said("no global lock"), said("lock global"))
    filled(index, path)
    assert lines(index, "global lock")[0] == 2


def test_a_text_with_all_the_words_goes_before_one_with_some(index: Index, path: Path) -> None:
    append(path, said("the lease of a worker ends"), said("worker worker worker"), said("a lease"))
    filled(index, path)
    assert lines(index, "worker lease")[0] == 1


def test_words_near_each_other_go_first(index: Index, path: Path) -> None:
    far = f"the lease {'of all things ' * 100} ends with a worker"
    append(path, said("the lease is the worker's"), said(far))
    filled(index, path)
    assert lines(index, "lease worker")[0] == 1


def test_a_rare_word_counts_more_than_common_ones(index: Index, path: Path) -> None:
    filler = [said(f"the worker and the queue {number}") for number in range(30)]
    append(path, *filler, said("jitter"), *filler)
    filled(index, path)
    assert lines(index, "the worker and jitter")[0] == 31


def test_an_old_place_of_a_common_word_is_found_by_its_neighbours(index: Index, path: Path) -> None:
    """Only the latest places of a common word are looked at one by one."""
    append(path, said("queue holds obelisk"), *[said(f"queue {n}") for n in range(900)])
    append(path, said("obelisk"))
    filled(index, path)
    assert lines(index, "queue obelisk")[0] == 1


def test_two_common_words_are_found_where_they_meet(index: Index, path: Path) -> None:
    append(path, said("here queue and lease meet"))
    append(
        path, *[said(f"queue {n}") for n in range(900)], *[said(f"lease {n}") for n in range(900)]
    )
    filled(index, path)
    assert lines(index, "lease queue")[0] == 1


def test_what_a_person_said_goes_before_what_was_printed(index: Index, path: Path) -> None:
    append(path, said("use full jitter"), called("t", "Bash"), answered("t", "use full jitter"))
    filled(index, path)
    assert lines(index, "full jitter")[0] == 1


def test_an_earlier_lookup_comes_last(index: Index, path: Path) -> None:
    append(
        path,
        answered("x", "the busiest second was 20012"),
        called("t", "Bash", command="holdfast recall busiest second"),
        answered("t", "L1 tool_result\nthe busiest second was 20012"),
    )
    filled(index, path)
    assert lines(index, "busiest second")[0] == 1


def test_of_equals_the_latest_comes_first(index: Index, path: Path) -> None:
    append(path, said("retry one"), said("retry two"))
    filled(index, path)
    assert lines(index, "retry") == [2, 1]


def test_what_the_model_no_longer_has_goes_before_what_it_has(index: Index, path: Path) -> None:
    old = [said("retry at ten"), *[said("x")] * 40, BOUNDARY, said("retry at six")]
    append(path, *old)
    filled(index, path)
    first, second = found(index, "retry")
    assert (first.line, first.before) == (1, True)
    assert (second.line, second.before) == (43, False)


def test_the_session_that_asks_goes_first(index: Index, tmp_path: Path) -> None:
    for session in ("mine", "other"):
        append(tmp_path / session, said(f"retry for {session}"))
        filled(index, tmp_path / session, session)
    assert [piece.session for piece in found(index, "retry", own="mine")] == ["mine", "other"]
    assert [piece.session for piece in found(index, "retry", own="other")] == ["other", "mine"]


@pytest.fixture
def mixed(index: Index, path: Path) -> Index:
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
    filled(index, path)
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
def test_filters(mixed: Index, only: dict[str, Any], expected: set[int]) -> None:
    assert set(lines(mixed, "jitter", Filter(**only))) == expected


def test_the_place_is_where_the_words_are(index: Index, path: Path) -> None:
    append(path, said("jitter " + "x " * 2000 + "full jitter " + "y " * 2000))
    filled(index, path)
    (piece,) = found(index, "full jitter")
    assert piece.text[piece.place :].startswith("full jitter")


@pytest.mark.parametrize("query", ["", " ", "\n\t", "\0"])
def test_an_empty_question_has_no_answer(index: Index, path: Path, query: str) -> None:
    append(path, said("alpha"))
    filled(index, path)
    assert lines(index, query) == []
