"""Changes as they happen: one reader of the ledger for any number of listeners."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from litestar.concurrency import sync_to_thread

from holdfast.errors import StoreUnavailable

if TYPE_CHECKING:
    from holdfast.surfaces.api.desk import Desk

Place = tuple[int, int]
SECONDS = 0.25
KEPT, AT_ONCE = 5000, 500
HEARTBEAT = 15.0


class Live:
    """Looks for changes now and then, and wakes whoever waits for one.

    Every listener reads from a place of its own, so a slow one holds nobody up.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._latest: list[dict[str, Any]] = []
        self._end: Place = (0, 0)
        self._begin: Place = (0, 0)
        self._news = asyncio.Event()
        self._closing = False

    async def run(self) -> None:
        """Until it is closed."""
        self._begin = self._end = await self._newest()
        while not self._closing:
            try:
                found = await sync_to_thread(self._read, self._end)
            except StoreUnavailable:
                found = []
            if found:
                self._take(found)
            await asyncio.sleep(SECONDS if len(found) < AT_ONCE else 0)

    async def _newest(self) -> Place:
        while not self._closing:
            try:
                return await sync_to_thread(self._last)
            except StoreUnavailable:
                await asyncio.sleep(SECONDS)
        return (0, 0)

    def _take(self, found: list[dict[str, Any]]) -> None:
        # A new list, so that whoever is reading the old one is not disturbed.
        everything = [*self._latest, *found]
        if len(everything) > KEPT:
            self._begin = place(everything[-KEPT - 1])
        self._latest = everything[-KEPT:]
        self._end = place(found[-1])
        news, self._news = self._news, asyncio.Event()
        news.set()

    def close(self) -> None:
        self._closing = True
        self._news.set()

    async def changes(self, after: Place | None) -> AsyncIterator[dict[str, Any] | None]:
        """From that place on, or from now; None now and then, to show that somebody is there."""
        at = self._end if after is None else after
        while not self._closing:
            news = self._news
            if at < self._begin:
                found = await sync_to_thread(self._read, at)
            else:
                found = self._latest[bisect_right(self._latest, at, key=place) :]
            for one in found:
                yield one
                at = place(one)
            if found:
                continue
            try:
                await asyncio.wait_for(news.wait(), HEARTBEAT)
            except TimeoutError:
                yield None

    def _read(self, after: Place) -> list[dict[str, Any]]:
        with self._desk.books() as books:
            return books.ledger.changes(after, AT_ONCE)

    def _last(self) -> Place:
        with self._desk.books() as books:
            return books.ledger.last_change()


def place(change: dict[str, Any]) -> Place:
    return change["tx"], change["seq"]


def written(change: dict[str, Any]) -> str:
    return f"{change['tx']}-{change['seq']}"


def read(word: str) -> Place | None:
    """The place that a client last saw, if that is what it sent."""
    tx, _, seq = word.partition("-")
    if tx.isdecimal() and seq.isdecimal() and len(word) < 40:
        return int(tx), int(seq)
    return None
