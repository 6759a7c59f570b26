"""Threads that do what the event loop must not wait for, in groups of what has come meanwhile.

An executor would do, but its hand-over costs as much again as a small commit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Generic, TypeVar

from holdfast.errors import ServerBusy

Job = TypeVar("Job")
Done = TypeVar("Done")
Group = list[tuple[Job, "asyncio.Future[Done]"]]


class Crew(Generic[Job, Done]):
    """Whoever asks waits for an outcome; an outcome that is an exception is raised."""

    def __init__(
        self,
        name: str,
        work: Callable[[list[Job]], list[Done | Exception]],
        *,
        threads: int = 1,
        most: int,
    ) -> None:
        """`work` is given up to so many jobs, and returns as many outcomes."""
        self._name = name
        self._do = work
        self._size = threads
        self._most = most
        self._coming: Group[Job, Done] = []
        self._groups: SimpleQueue[Group[Job, Done] | None] = SimpleQueue()
        self._threads: list[Thread] = []
        self._closed = False

    def check_open(self) -> None:
        if self._closed:
            raise ServerBusy("it is about to stop")

    async def done(self, job: Job) -> Done:
        self.check_open()
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[Done] = loop.create_future()
        self._coming.append((job, outcome))
        if len(self._coming) == 1:
            # They are handed over when all requests that have come by now are among them.
            loop.call_soon(self._hand_over)
        return await outcome

    def take(self, group: Group[Job, Done]) -> None:
        """Do these, for whoever waits for their outcomes already."""
        self._coming += group
        self._hand_over()

    def _start(self, loop: asyncio.AbstractEventLoop) -> None:
        self._threads = [
            Thread(target=self._work, args=(loop,), name=self._name, daemon=True)
            for _ in range(self._size)
        ]
        for thread in self._threads:
            thread.start()

    def _hand_over(self) -> None:
        if self._coming and not self._threads:
            self._start(self._coming[0][1].get_loop())
        for first in range(0, len(self._coming), self._most):
            self._groups.put(self._coming[first : first + self._most])
        self._coming = []

    def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        while group := self._next():
            outcomes: list[Done | Exception]
            try:
                outcomes = self._do([job for job, _ in group])
            except Exception as problem:
                outcomes = [problem] * len(group)
            # Whoever waited is gone with the loop.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(settle, group, outcomes)

    def _next(self) -> Group[Job, Done] | None:
        """What waits, as far as it is one group; nothing at the end."""
        group = self._groups.get()
        with suppress(Empty):
            while group and len(group) < self._most:
                more = self._groups.get_nowait()
                if more is None or len(group) + len(more) > self._most:
                    # For the next turn; nobody minds who comes first.
                    self._groups.put(more)
                    break
                group += more
        return group

    def close(self) -> None:
        """What has come is done yet."""
        self._closed = True
        self._hand_over()
        for _ in self._threads:
            self._groups.put(None)
        for thread in self._threads:
            thread.join()


def settle(group: Group[Job, Done], outcomes: Sequence[Done | Exception]) -> None:
    """Tell everybody who has not left."""
    for (_, waiting), outcome in zip(group, outcomes, strict=True):
        if waiting.cancelled():
            continue
        if isinstance(outcome, Exception):
            waiting.set_exception(outcome)
        else:
            waiting.set_result(outcome)
