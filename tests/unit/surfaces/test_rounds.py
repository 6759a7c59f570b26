"""What the event loop does itself: in groups, and what it cannot do goes to threads."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import closing
from typing import Any

import pytest

pytest.importorskip("litestar")

from holdfast.errors import ServerBusy
from holdfast.surfaces.api.crew import Crew
from holdfast.surfaces.api.rounds import FEW, NEAR, Rounds

Attempt = Callable[[list[int]], Awaitable[list[int | None] | list[int] | None]]


def rounds_of(attempt: Attempt, **more: Any) -> Rounds[int, int]:
    return Rounds(attempt, Crew("test", lambda jobs: [-job for job in jobs], most=100), **more)


def run(rounds: Rounds[int, int], job: Callable[[], Awaitable[Any]]) -> Any:
    async def work() -> Any:
        with closing(rounds):
            return await asyncio.wait_for(job(), 30)

    return asyncio.run(work())


def asked(rounds: Rounds[int, int], jobs: Iterable[int]) -> Callable[[], Awaitable[list[Any]]]:
    async def job() -> list[Any]:
        return await asyncio.gather(*map(rounds.done, jobs), return_exceptions=True)

    return job


class Loop:
    """Doubles, in the loop; waits for whoever holds a turn."""

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.turn = asyncio.Event()
        self.turn.set()

    async def __call__(self, jobs: list[int]) -> list[int] | None:
        self.groups.append(jobs)
        await self.turn.wait()
        return [2 * job for job in jobs]


async def a_moment() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def test_everybody_gets_the_outcome_of_their_own_job() -> None:
    loop = Loop()
    rounds = rounds_of(loop)
    assert run(rounds, asked(rounds, range(100))) == [2 * job for job in range(100)]
    assert [job for group in loop.groups for job in group] == list(range(100))
    assert max(map(len, loop.groups)) == FEW


@pytest.mark.parametrize("under_way", [1, 2])
def test_whoever_comes_as_a_round_ends_is_not_left_waiting(under_way: int) -> None:
    loop = Loop()
    rounds = rounds_of(loop, under_way=under_way)

    async def one_after_the_other(turns: int) -> list[int]:
        for _ in range(turns):
            await asyncio.sleep(0)
        return [await rounds.done(job) for job in range(20)]

    async def job() -> list[list[int]]:
        return await asyncio.gather(*map(one_after_the_other, range(8)))

    assert run(rounds, job) == [[2 * job for job in range(20)]] * 8


def test_while_one_waits_for_a_database_another_goes_on() -> None:
    loop = Loop()
    loop.turn.clear()
    rounds = rounds_of(loop, few=2, under_way=2)

    async def job() -> list[int]:
        waiting = asyncio.gather(*map(rounds.done, range(7)))
        await a_moment()
        assert loop.groups == [[0, 1], [2, 3]], "and no more than these"
        loop.turn.set()
        return await waiting

    assert run(rounds, job) == [2 * job for job in range(7)]
    assert [one for group in loop.groups for one in group] == list(range(7))


def test_who_wants_the_same_comes_along_where_that_is_shared() -> None:
    loop = Loop()
    rounds = rounds_of(loop, few=2, is_shared=True)
    jobs = [1, 1, 2, 3, 1, 2, 4, 3]
    assert run(rounds, asked(rounds, jobs)) == [2 * job for job in jobs]
    assert loop.groups == [[1, 1, 2, 1, 2], [3, 4, 3]]


def test_who_wants_the_same_far_behind_waits_with_those_around_them() -> None:
    loop = Loop()
    rounds = rounds_of(loop, few=NEAR, is_shared=True)
    jobs = [*range(NEAR), 0]
    assert run(rounds, asked(rounds, jobs)) == [2 * job for job in jobs]
    assert loop.groups == [[*range(NEAR)], [0]]


def test_who_comes_a_moment_later_is_in_the_same_group() -> None:
    loop = Loop()
    rounds = rounds_of(loop)

    async def late(job: int) -> int:
        for _ in range(job):
            await asyncio.sleep(0)
        return await rounds.done(job)

    async def job() -> list[int]:
        return await asyncio.gather(*map(late, range(4)))

    assert run(rounds, job) == [0, 2, 4, 6]
    assert loop.groups == [[0, 1, 2, 3]]


def test_who_comes_while_others_are_under_way_is_in_the_next_group() -> None:
    loop = Loop()
    rounds = rounds_of(loop)

    async def job() -> None:
        loop.turn.clear()
        first = asyncio.create_task(rounds.done(1))
        await a_moment()
        rest = [asyncio.create_task(rounds.done(number)) for number in (2, 3)]
        await a_moment()
        assert loop.groups == [[1]]
        loop.turn.set()
        await asyncio.gather(first, *rest)

    run(rounds, job)
    assert loop.groups == [[1], [2, 3]]


def test_between_two_rounds_everybody_else_has_a_turn() -> None:
    turns: list[str] = []

    async def attempt(jobs: list[int]) -> list[int] | None:
        turns.append("round")
        return jobs

    rounds = rounds_of(attempt)

    async def somebody_else() -> None:
        while turns.count("round") < 5:
            turns.append("else")
            await asyncio.sleep(0)

    async def job() -> None:
        await asyncio.gather(asked(rounds, range(5 * FEW))(), somebody_else())

    run(rounds, job)
    assert "round round" not in " ".join(turns)


@pytest.mark.parametrize("how", ["nothing", "a failure"])
def test_what_the_loop_cannot_do_the_threads_do(how: str) -> None:
    async def attempt(jobs: list[int]) -> list[int] | None:
        if how == "a failure":
            raise ZeroDivisionError
        return None

    rounds = rounds_of(attempt)
    assert run(rounds, asked(rounds, range(50))) == [-job for job in range(50)]


def test_only_what_the_loop_cannot_do_is_left_to_the_threads() -> None:
    async def attempt(jobs: list[int]) -> list[int | None]:
        return [None if job % 3 else 2 * job for job in jobs]

    rounds = rounds_of(attempt)
    told = run(rounds, asked(rounds, range(50)))
    assert told == [-job if job % 3 else 2 * job for job in range(50)]


def test_who_leaves_disturbs_nobody() -> None:
    loop = Loop()
    rounds = rounds_of(loop)

    async def job() -> int:
        loop.turn.clear()
        impatient = asyncio.create_task(rounds.done(1))
        patient = asyncio.create_task(rounds.done(2))
        await a_moment()
        impatient.cancel()
        loop.turn.set()
        return await patient

    assert run(rounds, job) == 4


def test_what_has_come_before_the_end_is_done_and_later_ones_are_refused() -> None:
    loop = Loop()
    rounds = rounds_of(loop)

    async def job() -> list[Any]:
        early = asyncio.create_task(rounds.done(1))
        await asyncio.sleep(0)
        rounds.close()
        return await asyncio.gather(early, rounds.done(2), return_exceptions=True)

    early, late = run(rounds, job)
    assert early in (2, -1)
    assert isinstance(late, ServerBusy)
