"""The server's protocol with a doorstep: what is plain is answered there, all else is let in."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from holdfast.errors import ServerBusy
from holdfast.surfaces.api import problems
from holdfast.surfaces.api.gathered import OnePacket
from holdfast.surfaces.api.packing import packed

if TYPE_CHECKING:
    from holdfast.surfaces.api.doorstep import Doorstep, Plain
    from holdfast.surfaces.api.packing import Headers, Packed


class Receiving(OnePacket):
    """One connection. Requests are answered in their order, whichever way each of them goes."""

    def __init__(self, *args: Any, doorstep: Doorstep, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._doorstep = doorstep
        # Whether nothing of a request has been let in of which the rest is missing.
        self._is_between = True
        self._is_answering = False
        # What comes from a client that does not wait for its answer, piece by piece.
        self._waiting: list[bytes] = []
        self._is_ending = False

    def data_received(self, data: bytes) -> None:
        if self._is_answering:
            self._waiting.append(data)
            self.flow.pause_reading()
        elif self._is_free and (asked := self._doorstep.asked(data)):
            self._answer(data, *asked)
        else:
            super().data_received(data)

    @property
    def _is_free(self) -> bool:
        return self._is_between and (self.cycle is None or self.cycle.response_complete)

    def _answer(self, data: bytes, plain: Plain, body: bytes) -> None:
        self._is_answering, self._head = True, 0
        self._unset_keepalive_if_required()
        self.no_longer_wait()
        task = self.loop.create_task(self._answered(data, plain, body))
        # The server waits for these before it ends.
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _answered(self, data: bytes, plain: Plain, body: bytes) -> None:
        try:
            answer = await self._doorstep.answer(plain, body)
        except asyncio.CancelledError:
            # It took longer than a server that stops can wait.
            self._give_up(ServerBusy("it is about to stop"))
            raise
        except Exception as problem:
            self._give_up(problem)
            return
        try:
            await self._go_on(data, answer)
        except BaseException:
            self.transport.close()
            raise

    async def _go_on(self, data: bytes, answer: Packed | None) -> None:
        """With what comes next, after this is answered, or let in because it has no answer here."""
        if answer is not None and not self.transport.is_closing():
            self._write(*answer)
            if self.flow.write_paused:
                # Whoever takes no answers is asked nothing more.
                await self.flow.drain()
        self._is_answering = False
        waiting, self._waiting = self._waiting, []
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if answer is None:
            super().data_received(data)
            if self._is_ending:
                super().shutdown()
        elif self._is_ending:
            self.transport.close()
        else:
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )
        for piece in waiting:
            if not self.transport.is_closing():
                self.data_received(piece)

    def _give_up(self, problem: Exception) -> None:
        if not self.transport.is_closing():
            self._is_ending = True
            status, detail, hint = problems.told(problem)
            told = problems.body(status, detail, hint)
            self._write(*packed(status, told, takes_gzip=False))
        self.transport.close()

    def _write(self, status: int, headers: Headers, body: bytes) -> None:
        self.server_state.total_requests += 1
        if self._is_ending:
            headers.append((b"connection", b"close"))
        lines = [
            b"%b: %b\r\n" % header for header in (*self.server_state.default_headers, *headers)
        ]
        self.transport.write_whole(b"".join((STATUS_LINE[status], *lines, b"\r\n", body)))

    def shutdown(self) -> None:
        self._is_ending = True
        # What has been asked is answered yet.
        if not self._is_answering:
            super().shutdown()

    def on_message_begin(self) -> None:
        self._is_between = False
        super().on_message_begin()

    def on_message_complete(self) -> None:
        self._is_between = True
        super().on_message_complete()
