"""Changes of the ledger as Server-Sent Events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, NamedTuple

from litestar import Router, get
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import HeaderParameter, QueryParameter
from litestar.response import Stream

from holdfast.server import event_feed
from holdfast.server.dependencies import CallerProject, Feed, IsTokenValid, TokenCheck
from holdfast.server.event_feed import Change, EventFeed, Position, Start
from holdfast.server.project_scope import check_project
from holdfast.server.requests import ProjectFilter, SessionFilter

After = Annotated[
    str, QueryParameter(max_length=100, description="id of the last event that was received")
]
LastEventId = Annotated[
    str,
    HeaderParameter(
        name="Last-Event-ID", max_length=100,
        description="id of the last event that was received; browsers send it by themselves",
    ),
]  # fmt: skip
FIRST_LINES = ": listening\nid: {event_id}\nretry: 2000\n\n"
GAP_EVENT = 'id: {event_id}\nevent: gap\ndata: {{"kind":"gap","event_id":"{event_id}"}}\n\n'
KEEP_ALIVE = b": still here\n\n"
# The token of a stream is checked at most this often, and only when there are changes or a
# keep-alive is due.
TOKEN_CHECK_SECONDS = 5.0


class Subscriber(NamedTuple):
    """The filters of a client, and a function that checks whether its token is still valid."""

    project: str | None
    session: str | None
    is_token_valid: TokenCheck


@get(
    "/events",
    responses={200: ResponseSpec(str, media_type="text/event-stream", generate_examples=False)},
)
async def stream_events(
    feed: Feed,
    caller_project: CallerProject,
    is_token_valid: IsTokenValid,
    last_event_id: LastEventId = "",
    after: After = "",
    project_id: ProjectFilter = None,
    session_id: SessionFilter = None,
) -> Stream:
    """Stream changes as they happen. With `Last-Event-ID` (or `after`) the stream continues after
    that event. If some of the later events are no longer stored, the first event is a `gap`: load
    your data again; from its `event_id` on, the stream is complete.
    """
    project = check_project(project_id, caller_project)
    start = await feed.find_start(event_feed.parse_event_id(last_event_id or after))
    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    lines = _render_stream(feed, start, Subscriber(project, session_id, is_token_valid))
    return Stream(lines, media_type="text/event-stream", headers=headers)


async def _render_stream(
    feed: EventFeed, start: Start, subscriber: Subscriber
) -> AsyncIterator[bytes]:
    event_id = feed.to_event_id(start.position)
    with feed.subscribe():
        yield FIRST_LINES.format(event_id=event_id).encode()
        if start.has_gap:
            yield GAP_EVENT.format(event_id=event_id).encode()
        async for changes in _filter_changes(feed, start.position, subscriber):
            yield b"".join(_render_event(feed, change) for change in changes) or KEEP_ALIVE


def _render_event(feed: EventFeed, change: Change) -> bytes:
    event_id = feed.to_event_id(event_feed.to_position(change))
    data: bytes = change["data"]
    return f"id: {event_id}\nevent: {change['kind']}\ndata: ".encode() + data + b"\n\n"


async def _filter_changes(
    feed: EventFeed, start: Position, subscriber: Subscriber
) -> AsyncIterator[list[Change]]:
    """Yield the changes that match a client's filters, in batches; an empty batch when a keep-alive
    is due. Ends when the token is no longer valid.
    """
    clock = asyncio.get_running_loop().time
    last_sent = last_check = clock()
    async for batch in feed.follow_changes(start):
        if clock() - last_check >= TOKEN_CHECK_SECONDS:
            last_check = clock()
            if not await subscriber.is_token_valid():
                return
        wanted = [
            change
            for change in batch
            if subscriber.project in (None, change["project"])
            and subscriber.session in (None, change["session"])
        ]
        if wanted or clock() - last_sent >= event_feed.KEEP_ALIVE_SECONDS:
            yield wanted
            last_sent = clock()


def create_router() -> Router:
    return Router("/api", tags=["events"], route_handlers=[stream_events])
