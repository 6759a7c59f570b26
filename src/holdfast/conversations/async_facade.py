"""The library for programs with an event loop: each call runs the same method in a thread.

There is no second implementation. Every method here is made from the method of the same name of
`SessionManager` or `Conversation`, and has its parameters and its result.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from holdfast.conversations.conversation import Conversation
from holdfast.conversations.events import MAX_QUEUED_EVENTS, CompactionEvent
from holdfast.conversations.manager import SessionManager

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")


class _Facade(Protocol[S]):
    """An object that passes its calls on to `sync`."""

    sync: S


def run_in_thread(
    method: Callable[Concatenate[S, P], R],
) -> Callable[Concatenate[_Facade[S], P], Coroutine[Any, Any, R]]:
    """Return a coroutine method that calls `method` of the wrapped object in a thread."""

    @functools.wraps(method)
    async def call(self: _Facade[S], /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await asyncio.to_thread(method, self.sync, *args, **kwargs)

    return call


class AsyncEventStream(AsyncIterator[CompactionEvent]):
    """An asynchronous iterator over the events from now on, in order, until `close`."""

    def __init__(self, manager: SessionManager) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[CompactionEvent | None] = asyncio.Queue()
        self._remove = manager.on(self._receive)

    def _receive(self, event: CompactionEvent) -> None:
        # Compactions run in threads, and a queue of the event loop is not thread-safe.
        self._loop.call_soon_threadsafe(self._put, event)

    def _put(self, event: CompactionEvent) -> None:
        if self._queue.qsize() < MAX_QUEUED_EVENTS:
            self._queue.put_nowait(event)

    async def __anext__(self) -> CompactionEvent:
        event = await self._queue.get()
        if event is None:
            raise StopAsyncIteration
        return event

    def close(self) -> None:
        """End the iteration after the events that have already happened."""
        self._remove()
        self._loop.call_soon_threadsafe(self._queue.put_nowait, None)


class AsyncConversation:
    """A conversation whose methods are awaited; `sync` is the conversation itself."""

    def __init__(self, conversation: Conversation, manager: SessionManager) -> None:
        self.sync = conversation
        self.session, self.feature = conversation.session, conversation.feature
        self._manager = manager

    add_message = run_in_thread(Conversation.add_message)
    messages = run_in_thread(Conversation.messages)
    clear_messages = run_in_thread(Conversation.clear_messages)
    set_agent_description = run_in_thread(Conversation.set_agent_description)
    set_project_context = run_in_thread(Conversation.set_project_context)
    checkpoint = run_in_thread(Conversation.checkpoint)
    checkpoints = run_in_thread(Conversation.checkpoints)
    update_checkpoint = run_in_thread(Conversation.update_checkpoint)
    build_request = run_in_thread(Conversation.build_request)
    preview_request = run_in_thread(Conversation.preview_request)
    maybe_compact = run_in_thread(Conversation.maybe_compact)
    force_compact = run_in_thread(Conversation.force_compact)
    status = run_in_thread(Conversation.status)
    metrics = run_in_thread(Conversation.metrics)
    archive = run_in_thread(Conversation.archive)
    reopen = run_in_thread(Conversation.reopen)
    export = run_in_thread(Conversation.export)

    def events(self) -> AsyncEventStream:
        """Return an asynchronous iterator over the events from now on, of all conversations."""
        return AsyncEventStream(self._manager)


class AsyncSessionManager:
    """A `SessionManager` whose methods are awaited: `AsyncSessionManager(SessionManager(…))`.

    `sync` is the manager itself.
    """

    def __init__(self, manager: SessionManager) -> None:
        self.sync = manager

    async def get_or_create(self, session: str, feature: str = "") -> AsyncConversation:
        """Return the conversation of a session and feature; it is created if there is none."""
        made = await asyncio.to_thread(self.sync.get_or_create, session, feature)
        return AsyncConversation(made, self.sync)

    async def get(self, session: str, feature: str = "") -> AsyncConversation:
        """Return the conversation of a session and feature; raises `NotFound` if there is none."""
        found = await asyncio.to_thread(self.sync.get, session, feature)
        return AsyncConversation(found, self.sync)

    sessions = run_in_thread(SessionManager.sessions)
    close = run_in_thread(SessionManager.close)

    def on(self, callback: Callable[[CompactionEvent], None]) -> Callable[[], None]:
        """Call `callback` for every event, in the thread of the compaction; returns a function that
        removes it."""
        return self.sync.on(callback)

    def events(self) -> AsyncEventStream:
        """Return an asynchronous iterator over the events from now on."""
        return AsyncEventStream(self.sync)

    async def __aenter__(self) -> AsyncSessionManager:
        return self

    async def __aexit__(self, *problem: object) -> None:
        await self.close()
