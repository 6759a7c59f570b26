"""Events of compactions and of the window filling up, delivered to callbacks and to iterators."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

START = "compaction-start"
PROGRESS = "compaction-progress"
COMPLETE = "compaction-complete"
ERROR = "compaction-error"
SPEND_REFUSED = "spend-refused"
LIMIT_WARNING = "limit-warning"
# A stream that is never read must not fill the memory; further events are dropped.
MAX_QUEUED_EVENTS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionEvent:
    """One event; the keys of `detail` are in docs/reference/session.md."""

    kind: str
    session: str
    feature: str
    detail: dict[str, Any] = field(default_factory=dict)


class Listeners:
    """The callbacks of a manager. Exceptions in a callback are ignored."""

    def __init__(self) -> None:
        self._callbacks: list[Callable[[CompactionEvent], None]] = []

    def add(self, callback: Callable[[CompactionEvent], None]) -> Callable[[], None]:
        """Add a callback; returns a function that removes it."""
        self._callbacks.append(callback)

        def remove() -> None:
            if callback in self._callbacks:
                self._callbacks.remove(callback)

        return remove

    def notify(self, event: CompactionEvent) -> None:
        for callback in tuple(self._callbacks):
            try:
                callback(event)
            except Exception:
                continue

    def stream(self) -> EventStream:
        return EventStream(self)


class EventStream(Iterator[CompactionEvent]):
    """An iterator over the events from now on, in order, until `close`."""

    def __init__(self, listeners: Listeners) -> None:
        self._queue: queue.Queue[CompactionEvent | None] = queue.Queue()
        self._remove = listeners.add(self._put)

    def _put(self, event: CompactionEvent) -> None:
        if self._queue.qsize() < MAX_QUEUED_EVENTS:
            self._queue.put(event)

    def __next__(self) -> CompactionEvent:
        event = self._queue.get()
        if event is None:
            raise StopIteration
        return event

    def ready(self) -> list[CompactionEvent]:
        """Return the events that were not read yet, without waiting for more."""
        events = []
        while not self._queue.empty():
            event = self._queue.get()
            if event is not None:
                events.append(event)
        return events

    def close(self) -> None:
        self._remove()
        self._queue.put(None)
