"""Work that asks is told what it asked for, and all of it goes together."""

from __future__ import annotations

import asyncio

import pytest

from holdfast.store.questions import Asking, Question, Rows, answered


class Told:
    """Answers each question with its own words, and notes what was asked together."""

    def __init__(self) -> None:
        self.together: list[list[str]] = []

    async def __call__(self, questions: list[Question]) -> list[Rows]:
        self.together.append([one.statement for one in questions])
        return [[{"said": one.statement}] for one in questions]


def asks(*rounds: str) -> Asking[list[str]]:
    """One that asks a question for each letter, and in the end tells all that it heard."""
    heard = []
    for letters in rounds:
        rows = yield [Question(letter, {}) for letter in letters]
        heard += [row["said"] for some in rows for row in some]
    return heard


def run(*work: Asking[list[str]]) -> tuple[list[list[str]], list[list[str]]]:
    told = Told()
    return asyncio.run(answered(told, [*work])), told.together


def test_each_is_told_what_it_asked_for() -> None:
    found, together = run(asks("ab", "c"), asks(), asks("d"), asks("e", "", "fg"))
    assert found == [[*"abc"], [], ["d"], [*"efg"]]
    assert together == [[*"abde"], ["c"], [*"fg"]]


def test_nobody_is_asked_for_nothing() -> None:
    assert run() == ([], [])
    assert run(asks(), asks("", "")) == ([[], []], [])


def test_what_fails_is_told() -> None:
    def fails() -> Asking[list[str]]:
        yield [Question("a", {})]
        raise LookupError("of ours")

    with pytest.raises(LookupError, match="of ours"):
        run(asks("b"), fails())
