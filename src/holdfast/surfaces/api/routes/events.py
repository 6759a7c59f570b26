"""What is happening, for whoever listens: as Server-Sent Events or over a WebSocket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Annotated, Any, NamedTuple

from litestar import Response, Router, WebSocket, get, websocket
from litestar.exceptions import WebSocketDisconnect
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import HeaderParameter, QueryParameter
from litestar.response import Stream

from holdfast.errors import BadUsage, NotAllowed, ServerBusy, StoreUnavailable
from holdfast.surfaces.api import live, problems
from holdfast.surfaces.api.held import wanted
from holdfast.surfaces.api.live import Change, Live, Place, Start
from holdfast.surfaces.api.needs import Allowed, HeldTo, StillAllowed, TheLive
from holdfast.surfaces.api.shapes import Filter

Word = Annotated[str, QueryParameter(max_length=100)]
Header = Annotated[str, HeaderParameter(name="Last-Event-ID", max_length=100)]
# Why a socket is closed, by the numbers of RFC 6455 and its registry.
STOPPING, NOT_ALLOWED, BROKEN, TRY_AGAIN = 1001, 1008, 1011, 1013
LISTENING = ": listening\nid: {place}\nretry: 2000\n\n"
GAP = "id: {place}\nevent: gap\ndata: {told}\n\n"
STILL_HERE = b": still here\n\n"
# How often it is looked whether a listener's token is still good.
ASKED_AGAIN = 5.0


class Chosen(NamedTuple):
    """What a listener wants to hear of, and whether it still may."""

    project: str | None
    session: str | None
    still_allowed: Allowed


@get(
    "/events",
    responses={200: ResponseSpec(str, media_type="text/event-stream", generate_examples=False)},
)
async def events(
    live_changes: TheLive,
    held_to: HeldTo,
    still_allowed: StillAllowed,
    last_event_id: Header = "",
    after: Word = "",
    project_id: Filter = None,
    session_id: Filter = None,
) -> Stream:
    """Changes as they happen; `Last-Event-ID` (or `after`) goes on where a listener stopped. If
    some of what came after that is no longer kept, the first event is a `gap`: read anew what
    you show; from its `event_id` on all events are told.
    """
    project = wanted(project_id, held_to)
    start = await live_changes.start(live.read(last_event_id or after))
    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    chosen = Chosen(project, session_id, still_allowed)
    lines = _lines(live_changes, start, chosen)
    return Stream(lines, media_type="text/event-stream", headers=headers)


async def _lines(changes: Live, start: Start, chosen: Chosen) -> AsyncIterator[bytes]:
    place = changes.written(start.place)
    with changes.listening():
        yield LISTENING.format(place=place).encode()
        if start.has_gap:
            yield GAP.format(place=place, told=_said("gap", place)).encode()
        async for some in _wanted(changes, start.place, chosen):
            yield b"".join(_lines_of(changes, one) for one in some) or STILL_HERE


def _said(kind: str, place: str) -> str:
    return f'{{"kind":"{kind}","event_id":"{place}"}}'


def _lines_of(changes: Live, change: Change) -> bytes:
    told: bytes = change["told"]
    place = changes.written(live.place(change))
    return f"id: {place}\nevent: {change['kind']}\ndata: ".encode() + told + b"\n\n"


async def _wanted(changes: Live, start: Place, chosen: Chosen) -> AsyncIterator[list[Change]]:
    """What a listener asked for; nothing, now and then, if there is nothing of that."""
    clock = asyncio.get_running_loop().time
    spoken = asked = clock()
    async for some in changes.changes(start):
        if clock() - asked >= ASKED_AGAIN:
            asked = clock()
            if not await chosen.still_allowed():
                return
        found = [
            one
            for one in some
            if chosen.project in (None, one["project"]) and chosen.session in (None, one["session"])
        ]
        if found or clock() - spoken >= live.HEARTBEAT:
            yield found
            spoken = clock()


@get(
    "/events/ws",
    status_code=426,
    responses={101: ResponseSpec(None, description="the socket is open", generate_examples=False)},
)
async def not_a_socket(
    after: Word = "", project_id: Filter = None, session_id: Filter = None
) -> Response[Any]:
    """The same events over a WebSocket, one JSON object each. The first message has the kind
    `listening`, and every 15 seconds without news there is one of the kind `heartbeat`. `after`
    goes on where a listener stopped: it is the `event_id` of the last message; one of the kind
    `gap` comes first if not everything since is still kept. Closed with 1001
    when the server stops, with 1008 when the token is not for that project or `after` is not the
    id of an event, with 1013 when it
    cannot be listened to now. Anything but a WebSocket gets 426.
    """
    answer = problems.respond(426, "this address is for WebSockets; /api/events is for others")
    answer.headers["Upgrade"] = "websocket"
    return answer


@websocket("/events/ws")
async def socket_events(
    socket: WebSocket[Any, Any, Any],
    live_changes: TheLive,
    held_to: HeldTo,
    still_allowed: StillAllowed,
    after: Word = "",
    project_id: Filter = None,
    session_id: Filter = None,
) -> None:
    await socket.accept()
    try:
        project = wanted(project_id, held_to)
        start = await live_changes.start(live.read(after))
    except (NotAllowed, BadUsage) as problem:
        await _close(socket, NOT_ALLOWED, problems.told(problem)[1])
        return
    except (StoreUnavailable, ServerBusy) as problem:
        await _close(socket, TRY_AGAIN, str(problem))
        return
    with live_changes.listening():
        chosen = Chosen(project, session_id, still_allowed)
        await _close(socket, *await _told(socket, live_changes, start, chosen))


async def _told(
    socket: WebSocket[Any, Any, Any], changes: Live, start: Start, chosen: Chosen
) -> tuple[int, str]:
    """Everything, until one of both ends it; why it is over."""
    telling = asyncio.create_task(_tell(socket, changes, start, chosen))
    leaving = asyncio.create_task(_until_gone(socket))
    try:
        await asyncio.wait({telling, leaving}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        telling.cancel()
        leaving.cancel()
        await asyncio.gather(telling, leaving, return_exceptions=True)
    problem = None if telling.cancelled() else telling.exception()
    if isinstance(problem, Exception) and not isinstance(problem, OSError | WebSocketDisconnect):
        problems.report(problem)
        return BROKEN, "a bug in Holdfast"
    if not changes.closing and not telling.cancelled() and problem is None:
        return NOT_ALLOWED, "this token is no longer good"
    return STOPPING, "the server stops"


async def _tell(
    socket: WebSocket[Any, Any, Any], changes: Live, start: Start, chosen: Chosen
) -> None:
    place = changes.written(start.place)
    await socket.send_text(_said("listening", place))
    if start.has_gap:
        await socket.send_text(_said("gap", place))
    async for some in _wanted(changes, start.place, chosen):
        for one in some:
            await socket.send_text(one["told"].decode())
        if not some:
            await socket.send_text('{"kind":"heartbeat"}')


async def _until_gone(socket: WebSocket[Any, Any, Any]) -> None:
    """What clients say is ignored, but when they go is not."""
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass


async def _close(socket: WebSocket[Any, Any, Any], code: int, reason: str) -> None:
    # A reason has 123 bytes, and whoever is gone needs none.
    with suppress(RuntimeError, OSError, WebSocketDisconnect):
        await socket.close(code=code, reason=reason.encode()[:120].decode(errors="ignore"))


def router() -> Router:
    return Router("/api", tags=["events"], route_handlers=[events, not_a_socket, socket_events])
