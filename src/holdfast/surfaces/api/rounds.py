"""Short work that the event loop does itself, round by round: all that has come meanwhile at once.

To hand it to a thread costs more than the work: both want Python's lock, and hand it to and fro.
What cannot be done this way is for a crew of threads.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from itertools import islice
from typing import Generic

from holdfast.surfaces.api.crew import Crew, Done, Group, Job, settle

# More at a time would keep the loop from everybody else for too long.
FEW = 32
# So far down the line it is looked for who wants the same.
NEAR = 64


class Rounds(Generic[Job, Done]):
    """Whoever asks waits for an outcome, by whichever way it comes."""

    def __init__(
        self,
        attempt: Callable[[list[Job]], Awaitable[Sequence[Done | None] | None]],
        crew: Crew[Job, Done],
        *,
        few: int = FEW,
        under_way: int = 1,
        is_shared: bool = False,
    ) -> None:
        """`attempt` is given a few jobs and returns as many outcomes. If it fails, or returns
        nothing, the crew does them; or only those for which there is no outcome. So many attempts
        may be under way: one goes on while another waits for a database. `is_shared` is for jobs
        of which equal ones have the same outcome, and are done once.
        """
        self._attempt = attempt
        self._crew = crew
        self._few = few
        self._under_way = under_way
        self._is_shared = is_shared
        self._coming: Group[Job, Done] = []
        self._running = 0
        # Else nobody would keep them until they end.
        self._tasks: set[asyncio.Task[None]] = set()

    async def done(self, job: Job) -> Done:
        self._crew.check_open()
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[Done] = loop.create_future()
        self._coming.append((job, outcome))
        if self._running < self._under_way:
            self._running += 1
            task = loop.create_task(self._run())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await outcome

    async def _run(self) -> None:
        try:
            while self._coming:
                await self._gathered()
                if group := self._next():
                    await self._do(group)
        finally:
            # Not when the task is over, which others hear of later: who comes meanwhile would wait
            # for it.
            self._running -= 1

    def _next(self) -> Group[Job, Done]:
        """The first few; where outcomes are shared, with whoever wants the same as one of them."""
        if not self._is_shared:
            group, self._coming = self._coming[: self._few], self._coming[self._few :]
            return group
        near, later = self._coming[:NEAR], self._coming[NEAR:]
        first = {*islice(dict.fromkeys(job for job, _ in near), self._few)}
        self._coming = [one for one in near if one[0] not in first] + later
        return [one for one in near if one[0] in first]

    async def _do(self, group: Group[Job, Done]) -> None:
        outcomes: Sequence[Done | None] | None = None
        # Whatever is wrong, the crew finds it too, and can tell for whom.
        with suppress(Exception):
            outcomes = await self._attempt([job for job, _ in group])
        left: Group[Job, Done] = []
        for one, outcome in zip(group, outcomes or [None] * len(group), strict=True):
            if outcome is None:
                left.append(one)
            else:
                settle([one], [outcome])
        self._crew.take(left)

    async def _gathered(self) -> None:
        """Until nobody else comes: those who were answered a moment ago ask again now. Between two
        rounds everybody else has a turn.
        """
        seen = -1
        while seen < len(self._coming) < self._few or seen < 0:
            seen = len(self._coming)
            await asyncio.sleep(0)

    def close(self) -> None:
        """What has come is done yet, by the crew."""
        group, self._coming = self._coming, []
        self._crew.take(group)
        self._crew.close()
