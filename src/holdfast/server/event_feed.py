"""The event feed: reads the changes of the ledger once and passes them to all subscribers."""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_right
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from litestar.concurrency import sync_to_thread

from holdfast.errors import InvalidInput, ServerBusy, StoreUnavailable
from holdfast.ledger import project_attribution
from holdfast.server import errors
from holdfast.server.rows import to_time

if TYPE_CHECKING:
    from holdfast.server.databases import Databases

Position = tuple[int, int]
"""Transaction and sequence number of a change: changes are ordered by it."""
Change = dict[str, Any]
# The database notifies of changes; the feed also polls, in case a notification was lost.
POLL_SECONDS = 5.0
# Changes within this time are read together.
BATCH_SECONDS = 0.03
# The longest pause between reads while changes are held back by an older transaction.
MAX_HELD_BACK_SECONDS = 1.0
MAX_CACHED_CHANGES = 5000
# The most changes that are read or sent at once.
BATCH_SIZE = 200
# After this time without changes a subscriber gets an empty batch.
KEEP_ALIVE_SECONDS = 15.0
MAX_SUBSCRIBERS = 10_000
# Event ids contain the first characters of the ledger's id.
LEDGER_ID_CHARS = 8
EVENT_ID = re.compile(rf"([0-9]{{1,19}})-([0-9]{{1,19}})(?:-([0-9a-f]{{{LEDGER_ID_CHARS}}}))?")


class EventId(NamedTuple):
    """The position of an event, and the start of its ledger's id if the event id contains it."""

    position: Position
    ledger: str = ""


class Start(NamedTuple):
    """The position after which a subscriber starts, and whether it has missed changes before it."""

    position: Position
    has_gap: bool = False


class EventFeed:
    """Reads changes while there are subscribers, and wakes those that wait.

    Every subscriber has its own position, so a slow one delays no other.
    """

    def __init__(self, databases: Databases, max_subscribers: int = MAX_SUBSCRIBERS) -> None:
        self._databases = databases
        self.max_subscribers = max_subscribers
        self.subscribers = 0
        # Nothing is read while there is no subscriber.
        self._is_idle = True
        # The latest changes; all after `_cache_start` up to `end`.
        self._cache: list[Change] = []
        self._cache_start: Position = (0, 0)
        self.end: Position = (0, 0)
        # The ledger's id. A position identifies a change only within one database.
        self._ledger = ""
        self._lock = asyncio.Lock()
        self._wake = asyncio.Event()
        self._is_woken = False
        self._new_changes = asyncio.Event()
        self.is_closing = False

    async def run(self) -> None:
        """Read changes until the feed is closed."""
        loop = asyncio.get_running_loop()

        def on_change() -> None:
            # Of several writes only the first wakes the loop; `_is_woken` is reset before the next
            # read. Without subscribers nothing is read: a new one reads from `_resume` on.
            if self.subscribers and not self._is_woken:
                self._is_woken = True
                with suppress(RuntimeError):
                    loop.call_soon_threadsafe(self._wake.set)

        # A new database gets its id here, so that reading events changes nothing.
        with suppress(StoreUnavailable):
            await sync_to_thread(self._read_last)
        watch = self._databases.watch_changes(on_change)
        await sync_to_thread(watch.__enter__)
        try:
            await self._follow()
        finally:
            await sync_to_thread(watch.__exit__, None, None, None)

    async def _follow(self) -> None:
        pause = BATCH_SECONDS
        while not self.is_closing:
            self._is_woken = False
            self._wake.clear()
            async with self._lock:
                has_more, is_held_back = await self._read_new()
            if not has_more:
                pause = min(pause * 2, MAX_HELD_BACK_SECONDS) if is_held_back else BATCH_SECONDS
                await asyncio.sleep(BATCH_SECONDS)
                await _wait_for(self._wake, pause if is_held_back else POLL_SECONDS)

    async def _read_new(self) -> tuple[bool, bool]:
        """Read one batch. Return whether there is more, and whether there are changes that cannot
        be sent yet because an older transaction is still open.
        """
        if not self.subscribers:
            self._is_idle = True
            return False, False
        try:
            await self._resume()
            changes, is_held_back = await sync_to_thread(self._read, self.end)
        except StoreUnavailable:
            return False, False
        except Exception as problem:
            # The task must continue: subscribers would not notice its end.
            errors.report(problem)
            return False, False
        if changes:
            self._add_to_cache(changes)
        return len(changes) == BATCH_SIZE, is_held_back

    def _add_to_cache(self, changes: list[Change]) -> None:
        # A new list: a subscriber may be reading the old one.
        cache = [*self._cache, *changes]
        if len(cache) > MAX_CACHED_CHANGES:
            self._cache_start = to_position(cache[-MAX_CACHED_CHANGES - 1])
        self._cache = cache[-MAX_CACHED_CHANGES:]
        self.end = to_position(changes[-1])
        self._notify_subscribers()

    def _notify_subscribers(self) -> None:
        waiting, self._new_changes = self._new_changes, asyncio.Event()
        waiting.set()

    def close(self) -> None:
        """End `run` and all streams."""
        self.is_closing = True
        self._new_changes.set()
        self._wake.set()

    async def find_start(self, after: EventId | None) -> Start:
        """Return where a new subscriber starts. `after` is the last event that it has received, if
        any: it starts there if all later changes are still stored.

        Raises `ServerBusy` if there are too many subscribers or the server is stopping.
        """
        if self.is_closing:
            raise ServerBusy("it is stopping")
        if self.subscribers >= self.max_subscribers:
            raise ServerBusy(f"{self.max_subscribers} clients listen already")
        async with self._lock:
            await self._resume()
            if after is None:
                return Start(self.end)
            pruned, last = await sync_to_thread(self._read_bounds)
        if after.ledger not in ("", self._ledger[:LEDGER_ID_CHARS]):
            return Start(last, has_gap=True)
        if after.position < pruned:
            return Start(pruned, has_gap=True)
        # Another server process may have read further than this one. A position beyond the last
        # change is from a database that was replaced.
        is_known = after.position <= max(self.end, last)
        return Start(after.position) if is_known else Start(last, has_gap=True)

    def to_event_id(self, position: Position) -> str:
        return f"{position[0]}-{position[1]}-{self._ledger[:LEDGER_ID_CHARS]}"

    async def _resume(self) -> None:
        """If there were no subscribers, start again at the latest change."""
        if self._is_idle:
            self._cache_start = self.end = await sync_to_thread(self._read_last)
            self._cache = []
            self._is_idle = False
            self._wake.set()
            self._notify_subscribers()

    async def follow_changes(self, after: Position) -> AsyncIterator[list[Change]]:
        """Yield all changes after a position, in batches, until the feed is closed; an empty batch
        when a keep-alive is due.
        """
        while not self.is_closing:
            new_changes = self._new_changes
            batch = await self._get_batch(after)
            if batch:
                yield batch
                after = to_position(batch[-1])
            elif not await _wait_for(new_changes, KEEP_ALIVE_SECONDS):
                yield []

    @contextmanager
    def subscribe(self) -> Iterator[None]:
        """Count a subscriber while the context is open."""
        self.subscribers += 1
        try:
            yield
        finally:
            self.subscribers -= 1
            self._is_idle = self._is_idle or not self.subscribers

    async def _get_batch(self, after: Position) -> list[Change]:
        try:
            if self._is_idle:
                async with self._lock:
                    await self._resume()
            if after < self._cache_start:
                return (await sync_to_thread(self._read, after))[0]
        except StoreUnavailable:
            return []
        first = bisect_right(self._cache, after, key=to_position)
        return self._cache[first : first + BATCH_SIZE]

    def _read(self, after: Position) -> tuple[list[Change], bool]:
        with self._databases.connect() as db:
            changes = db.ledger.list_changes(after, BATCH_SIZE)
            is_held_back = len(changes) < BATCH_SIZE and db.ledger.has_pending_changes()
            changes = project_attribution.add_projects(db.ledger, changes, db.find_session_project)
        # The JSON of a change is encoded once for all subscribers.
        encoded = [
            {**change, "data": _to_json(change, self.to_event_id(to_position(change)))}
            for change in changes
        ]
        return encoded, is_held_back

    def _read_bounds(self) -> tuple[Position, Position]:
        """Return the positions of the last deleted change and of the last change."""
        with self._databases.connect() as db:
            self._ledger = db.ledger.get_database_id()
            return db.ledger.get_pruned_position(), db.ledger.get_last_position()

    def _read_last(self) -> Position:
        with self._databases.connect() as db:
            self._ledger = db.ledger.get_database_id()
            return db.ledger.get_last_position()


async def _wait_for(event: asyncio.Event, seconds: float) -> bool:
    """Return whether the event was set within this time."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            return await event.wait()
    return False


def _to_json(change: Change, event_id: str) -> bytes:
    """Return a change as JSON for subscribers: which row changed, but not its contents."""
    return msgspec.json.encode(
        {
            "event_id": event_id,
            "id": change["id"],
            "kind": change["kind"],
            "record_id": change["record"],
            "project_id": change["project"] or None,
            "session_id": change["session"] or None,
            "deleted": bool(change["gone"]),
            "at": to_time(change["at"]),
        }
    )


def to_position(change: Change) -> Position:
    return change["tx"], change["seq"]


def parse_event_id(text: str) -> EventId | None:
    """Return the parts of an event id; None if it is empty. Raises `InvalidInput` for others."""
    if not text:
        return None
    if match := EVENT_ID.fullmatch(text):
        position = int(match[1]), int(match[2])
        if max(position) < 2**63:
            return EventId(position, match[3] or "")
    # Starting with the latest event instead would hide that events were missed.
    raise InvalidInput(
        "`after` is not the id of an event", hint="it is the stream's `id:`, or `event_id`"
    )
