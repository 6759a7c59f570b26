"""Threads for the event loop: groups of what has come, and nobody waits for ever."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterable
from contextlib import closing
from typing import Any

import pytest

pytest.importorskip("litestar")

from holdfast.errors import ServerBusy
from holdfast.surfaces.api.crew import Crew

Work = Callable[[list[int]], list[int | Exception]]


def run(crew: Crew[int, int], job: Callable[[], Awaitable[Any]]) -> Any:
    async def work() -> Any:
        with closing(crew):
            return await asyncio.wait_for(job(), 30)

    return asyncio.run(work())


def asked(crew: Crew[int, int], jobs: Iterable[int]) -> Callable[[], Awaitable[list[Any]]]:
    async def job() -> list[Any]:
        return await asyncio.gather(*map(crew.done, jobs), return_exceptions=True)

    return job


def doubled(jobs: list[int]) -> list[int | Exception]:
    return [2 * job for job in jobs]


@pytest.mark.parametrize("threads", [1, 3])
def test_everybody_gets_the_outcome_of_their_own_job(threads: int) -> None:
    crew: Crew[int, int] = Crew("test", doubled, threads=threads, most=7)
    assert run(crew, asked(crew, range(100))) == [2 * job for job in range(100)]


def test_no_group_is_larger_than_it_may_be() -> None:
    sizes: list[int] = []

    def work(jobs: list[int]) -> list[int | Exception]:
        sizes.append(len(jobs))
        return doubled(jobs)

    crew: Crew[int, int] = Crew("test", work, most=7)
    run(crew, asked(crew, range(100)))
    assert (max(sizes), sum(sizes)) == (7, 100)


def test_an_outcome_that_is_a_problem_is_raised_for_whose_it_is() -> None:
    def work(jobs: list[int]) -> list[int | Exception]:
        return [KeyError(job) if job == 1 else job for job in jobs]

    crew: Crew[int, int] = Crew("test", work, most=10)
    first, second, third = run(crew, asked(crew, range(3)))
    assert (first, type(second), third) == (0, KeyError, 2)


def test_work_that_breaks_down_is_everybody_s_problem_and_the_next_is_done() -> None:
    def work(jobs: list[int]) -> list[int | Exception]:
        if 1 in jobs:
            raise ZeroDivisionError
        return doubled(jobs)

    crew: Crew[int, int] = Crew("test", work, most=10)

    async def job() -> list[Any]:
        return [*await asked(crew, (1, 2))(), await crew.done(3)]

    *broken, later = run(crew, job)
    assert [type(one) for one in broken] == [ZeroDivisionError] * 2
    assert later == 6


def test_one_that_takes_long_does_not_hold_up_the_other_thread() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def work(jobs: list[int]) -> list[int | Exception]:
        if 0 in jobs:
            begun.set()
            go_on.wait(30)
        return doubled(jobs)

    crew: Crew[int, int] = Crew("test", work, threads=2, most=1)

    async def job() -> tuple[bool, int]:
        slow = asyncio.create_task(crew.done(0))
        await asyncio.to_thread(begun.wait, 30)
        quick = await crew.done(1)
        early = slow.done()
        go_on.set()
        await slow
        return early, quick

    assert run(crew, job) == (False, 2)


def test_what_has_come_before_the_end_is_done_and_later_ones_are_refused() -> None:
    crew: Crew[int, int] = Crew("test", doubled, most=10)

    async def job() -> list[Any]:
        early = asyncio.create_task(crew.done(1))
        await asyncio.sleep(0)
        crew.close()
        return await asyncio.gather(early, crew.done(2), return_exceptions=True)

    early, late = run(crew, job)
    assert early == 2
    assert isinstance(late, ServerBusy)
