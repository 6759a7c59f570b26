"""Changes as they happen: one reader of the ledger for any number of listeners."""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_right
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from litestar.concurrency import sync_to_thread

from holdfast.errors import BadUsage, ServerBusy, StoreUnavailable
from holdfast.ledger import whose
from holdfast.surfaces.api import answers, problems

if TYPE_CHECKING:
    from holdfast.surfaces.api.desk import Desk

Place = tuple[int, int]
Change = dict[str, Any]
# A look is made when the store says that there is news; unasked only in case it could not say so.
UNASKED_SECONDS = 5.0
# Several changes within this time are told together.
GATHER_SECONDS = 0.03
HELD_BACK_SECONDS = 1.0
KEPT, AT_ONCE = 5000, 200
HEARTBEAT = 15.0
TICK = 0.01
MOST = 10_000
# So much of a ledger's name stands in the ids of its events.
SHORT = 8
EVENT = re.compile(rf"([0-9]{{1,19}})-([0-9]{{1,19}})(?:-([0-9a-f]{{{SHORT}}}))?")


class Seen(NamedTuple):
    """The last event that a client has seen, and the ledger that it is of, if that is said."""

    place: Place
    ledger: str = ""


class Start(NamedTuple):
    """Where a listener begins, and whether something is missing before that."""

    place: Place
    has_gap: bool = False


class Live:
    """Reads changes when there are any and somebody listens, and wakes whoever waits for one.

    Every listener reads from a place of its own, so a slow one holds nobody up.
    """

    def __init__(self, desk: Desk, most: int = MOST) -> None:
        self._desk = desk
        self.most = most
        self.listeners = 0
        self._asleep = True
        self._latest: list[Change] = []
        self._begin: Place = (0, 0)
        self.end: Place = (0, 0)
        # Numbers of another database mean something else: their names tell them apart.
        self._ledger = ""
        self._turn = asyncio.Lock()
        self._wake = asyncio.Event()
        self._woken = False
        self._news = asyncio.Event()
        self.closing = False

    async def run(self) -> None:
        """Until it is closed."""
        loop = asyncio.get_running_loop()

        def heard() -> None:
            # Of many writes in a row one wakes the loop: `_woken` falls before the next look.
            # A listener that comes later looks by itself.
            if self.listeners and not self._woken:
                self._woken = True
                with suppress(RuntimeError):
                    loop.call_soon_threadsafe(self._wake.set)

        watching = self._desk.watched(heard)
        await sync_to_thread(watching.__enter__)
        try:
            await self._follow()
        finally:
            await sync_to_thread(watching.__exit__, None, None, None)

    async def _follow(self) -> None:
        rest = GATHER_SECONDS
        while not self.closing:
            self._woken = False
            self._wake.clear()
            async with self._turn:
                full, held_back = await self._look()
            if not full:
                rest = min(rest * 2, HELD_BACK_SECONDS) if held_back else GATHER_SECONDS
                await asyncio.sleep(GATHER_SECONDS)
                await _first(self._wake, rest if held_back else UNASKED_SECONDS)

    async def _look(self) -> tuple[bool, bool]:
        """Whether there is more, and whether there is some that cannot be told yet."""
        if not self.listeners:
            self._asleep = True
            return False, False
        try:
            await self._awake()
            found, held_back = await sync_to_thread(self._read, self.end)
        except StoreUnavailable:
            return False, False
        except Exception as problem:
            # Whoever listens would never hear that the reader is gone.
            problems.report(problem)
            return False, False
        if found:
            self._take(found)
        return len(found) == AT_ONCE, held_back

    def _take(self, found: list[Change]) -> None:
        # A new list, so that whoever is reading the old one is not disturbed.
        everything = [*self._latest, *found]
        if len(everything) > KEPT:
            self._begin = place(everything[-KEPT - 1])
        self._latest = everything[-KEPT:]
        self.end = place(found[-1])
        self._tell()

    def _tell(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    def close(self) -> None:
        self.closing = True
        self._news.set()
        self._wake.set()

    async def silence(self, seconds: float) -> None:
        """Once it is closed, until all listeners have been told so, or for that time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.listeners:
                    await asyncio.sleep(TICK)

    async def start(self, after: Seen | None) -> Start:
        """Where to listen from: there, if all that came since is kept, and if anything could."""
        if self.closing:
            raise ServerBusy("it is about to stop")
        if self.listeners >= self.most:
            raise ServerBusy(f"{self.most} clients listen already")
        async with self._turn:
            await self._awake()
            if after is None:
                return Start(self.end)
            forgotten, last = await sync_to_thread(self._first_and_last)
        if after.ledger not in ("", self._ledger[:SHORT]):
            return Start(last, has_gap=True)
        if after.place < forgotten:
            return Start(forgotten, has_gap=True)
        # Another server may be ahead of this one; a database that was made anew is behind.
        known = after.place <= max(self.end, last)
        return Start(after.place) if known else Start(last, has_gap=True)

    def written(self, where: Place) -> str:
        """The id of an event there."""
        return f"{where[0]}-{where[1]}-{self._ledger[:SHORT]}"

    async def _awake(self) -> None:
        """While nobody listened, nothing was read: go on from now."""
        if self._asleep:
            self._begin = self.end = await sync_to_thread(self._last)
            self._latest = []
            self._asleep = False
            self._wake.set()
            self._tell()

    async def changes(self, after: Place) -> AsyncIterator[list[Change]]:
        """From that place on, some at a time; none now and then, to show that somebody is there."""
        while not self.closing:
            news = self._news
            found = await self._since(after)
            if found:
                yield found
                after = place(found[-1])
            elif not await _first(news, HEARTBEAT):
                yield []

    @contextmanager
    def listening(self) -> Iterator[None]:
        """While it is open there is somebody to read changes for."""
        self.listeners += 1
        try:
            yield
        finally:
            self.listeners -= 1
            self._asleep = self._asleep or not self.listeners

    async def _since(self, after: Place) -> list[Change]:
        try:
            if self._asleep:
                async with self._turn:
                    await self._awake()
            if after < self._begin:
                return (await sync_to_thread(self._read, after))[0]
        except StoreUnavailable:
            return []
        first = bisect_right(self._latest, after, key=place)
        return self._latest[first : first + AT_ONCE]

    def _read(self, after: Place) -> tuple[list[Change], bool]:
        with self._desk.books() as books:
            found = books.ledger.changes(after, AT_ONCE)
            held_back = len(found) < AT_ONCE and books.ledger.holds_back()
            found = whose.with_projects(books.ledger, found, books.store.folders)
        # Written out once for all who listen.
        return [{**one, "told": told(one, self.written(place(one)))} for one in found], held_back

    def _first_and_last(self) -> tuple[Place, Place]:
        with self._desk.books() as books:
            self._ledger = books.ledger.name()
            return books.ledger.forgotten(), books.ledger.last_change()

    def _last(self) -> Place:
        with self._desk.books() as books:
            self._ledger = books.ledger.name()
            return books.ledger.last_change()


async def _first(event: asyncio.Event, seconds: float) -> bool:
    """Whether it happened within that time."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            return await event.wait()
    return False


def told(change: Change, ident: str) -> bytes:
    """A change as JSON, for listeners: what it is about, never what it says."""
    return msgspec.json.encode(
        {
            "event_id": ident,
            "id": change["id"],
            "kind": change["kind"],
            "record_id": change["record"],
            "project_id": change["project"] or None,
            "session_id": change["session"] or None,
            "deleted": bool(change["gone"]),
            "at": answers.stamp(change["at"]),
        }
    )


def place(change: Change) -> Place:
    return change["tx"], change["seq"]


def read(word: str) -> Seen | None:
    """What a client last saw; none if it names none."""
    if not word:
        return None
    if said := EVENT.fullmatch(word):
        found = int(said[1]), int(said[2])
        if max(found) < 2**63:
            return Seen(found, said[3] or "")
    # From now on, as if nothing had been missed, would be worse.
    raise BadUsage(
        "`after` is not the id of an event", hint="it is the stream's `id:`, or `event_id`"
    )
