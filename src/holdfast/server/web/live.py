"""The stream that tells pages that something changed; they fetch what they show again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from litestar import get
from litestar.response import ServerSentEvent
from litestar.response.sse import ServerSentEventMessage

from holdfast.server.dependencies import CallerDatabases, Feed, IsTokenValid
from holdfast.server.web.store_watch import StoreWatch

# A browser is told at most this often: a busy session must not redraw the page all the time.
MIN_SECONDS = 1.0
KEEP_ALIVE_SECONDS = 15.0


@get("/live")
async def follow(
    databases: CallerDatabases, feed: Feed, is_token_valid: IsTokenValid
) -> ServerSentEvent:
    """Send `changed` after each change of the sessions or of the shared work."""

    async def send() -> AsyncIterator[ServerSentEventMessage]:
        async with StoreWatch(databases) as watch:
            yield ServerSentEventMessage(retry=1000, comment="connected")
            while not feed.is_closing and await is_token_valid():
                if await watch.wait_for_change(KEEP_ALIVE_SECONDS):
                    yield ServerSentEventMessage(event="changed", data="1")
                    await asyncio.sleep(MIN_SECONDS)
                else:
                    yield ServerSentEventMessage(comment="still here")

    return ServerSentEvent(send())
