"""Tells when the local store or the ledger changed, also by another process such as a hook."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress
from types import TracebackType

from litestar.concurrency import sync_to_thread

from holdfast.server.databases import Databases


class StoreWatch:
    """Waits for changes while it is open; changes between two waits count as one."""

    def __init__(self, databases: Databases) -> None:
        self._databases = databases
        self._changed = asyncio.Event()
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> StoreWatch:
        loop = asyncio.get_running_loop()

        def on_change() -> None:
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._changed.set)

        for watch in (self._databases.watch_changes, self._databases.watch_sessions):
            context = watch(on_change)
            await sync_to_thread(context.__enter__)
            self._stack.push_async_callback(sync_to_thread, context.__exit__, None, None, None)
        # Watching begins with a call of `on_change`.
        self._changed.clear()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._stack.aclose()

    async def wait_for_change(self, seconds: float) -> bool:
        """Return whether something changed within this time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._changed.wait()
                self._changed.clear()
                return True
        return False
