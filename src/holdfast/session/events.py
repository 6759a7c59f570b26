"""What a compaction tells while it runs: to callbacks, and to whoever iterates over it."""

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
# A listener that never reads must not fill the memory.
MOST_WAITING = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One step, and what is to be known about it: see docs/reference/session.md."""

    kind: str
    session: str
    feature: str
    detail: dict[str, Any] = field(default_factory=dict)


class Listeners:
    """Whoever wants to know. What goes wrong in a callback is not the conversation's business."""

    def __init__(self) -> None:
        self._callbacks: list[Callable[[Event], None]] = []

    def add(self, callback: Callable[[Event], None]) -> Callable[[], None]:
        """Returns what takes it away again."""
        self._callbacks.append(callback)

        def remove() -> None:
            if callback in self._callbacks:
                self._callbacks.remove(callback)

        return remove

    def tell(self, event: Event) -> None:
        for callback in tuple(self._callbacks):
            try:
                callback(event)
            except Exception:
                continue

    def stream(self) -> Stream:
        return Stream(self)


class Stream(Iterator[Event]):
    """Events from now on, in order, until `close`."""

    def __init__(self, listeners: Listeners) -> None:
        self._waiting: queue.Queue[Event | None] = queue.Queue()
        self._remove = listeners.add(self._put)

    def _put(self, event: Event) -> None:
        if self._waiting.qsize() < MOST_WAITING:
            self._waiting.put(event)

    def __next__(self) -> Event:
        event = self._waiting.get()
        if event is None:
            raise StopIteration
        return event

    def ready(self) -> list[Event]:
        """Those that have happened and were not read yet, without waiting for more."""
        found = []
        while not self._waiting.empty():
            event = self._waiting.get()
            if event is not None:
                found.append(event)
        return found

    def close(self) -> None:
        self._remove()
        self._waiting.put(None)
