"""Several processes that serve one address, since Python keeps one core busy at a time.

They share what a token may still ask, the listening sockets, and nothing else: each is a server of
its own on the same store. The process that started them only waits, and starts again what has died.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from socket import socket
from types import FrameType
from typing import NamedTuple

from holdfast.errors import HoldfastError

# Whoever ends sooner would end again: what is wrong has to be told, not tried for ever.
SOON_SECONDS = 5.0
SIGNS = (signal.SIGTERM, signal.SIGINT)
# A worker whose parent is gone is told to end, so often and after so many seconds again.
TIMES_TOLD, TOLD_AGAIN = 10, 2.0


class WorkerFailed(HoldfastError):
    """A worker ended as soon as it was started."""

    hint = "what it said stands above; with --workers 1 there is nothing else in between"


class Worker(NamedTuple):
    """One of the processes, and where it listens."""

    number: int
    bound: socket

    @property
    def is_first(self) -> bool:
        """What is to be done once on a machine is done by this one."""
        return self.number == 0


def split(sockets: Sequence[socket], died: Callable[[str], None]) -> Worker | None:
    """One process for each socket. Which of them this one is; in the one that started them,
    once they have all ended, none.
    """
    if len(sockets) == 1:
        return Worker(0, sockets[0])
    number = _Parent(len(sockets), died).run()
    if number is None:
        return None
    for other in sockets:
        if other is not sockets[number]:
            other.close()
    return Worker(number, sockets[number])


class _Parent:
    def __init__(self, size: int, died: Callable[[str], None]) -> None:
        self._size = size
        self._died = died
        self._stopping = False
        # By process id: which worker it is, and since when.
        self._alive: dict[int, tuple[int, float]] = {}
        # Nobody ever writes here: it ends when the parent does, however that is.
        self._life, self._held = os.pipe()

    def run(self) -> int | None:
        self._before = {sign: signal.signal(sign, self._stop) for sign in SIGNS}
        try:
            number = self._watch()
        finally:
            self._as_before()
            os.close(self._held)
        if number is None:
            os.close(self._life)
        else:
            threading.Thread(target=_end_with, args=(self._life,), daemon=True).start()
        return number

    def _as_before(self) -> None:
        for sign, handler in self._before.items():
            signal.signal(sign, handler)

    def _stop(self, sign: int, frame: FrameType | None = None) -> None:
        # A worker that does not listen yet may not hear Ctrl-C: who is started in the background by
        # a script has it switched off. The second time it means "at once".
        told = sign if self._stopping else signal.SIGTERM
        self._stopping = True
        for process in tuple(self._alive):
            with suppress(ProcessLookupError):
                os.kill(process, told)

    def _watch(self) -> int | None:
        """The number of a worker in each of them, and nothing in the parent at the end."""
        for number in range(self._size):
            if self._fork(number):
                return number
        failed = ""
        while self._alive:
            process, status = os.wait()
            number, since = self._alive.pop(process, (-1, 0.0))
            if self._stopping or number < 0:
                continue
            how = _ending(os.waitstatus_to_exitcode(status))
            if time.monotonic() - since < SOON_SECONDS:
                failed = how
                self._stop(signal.SIGTERM)
                continue
            self._died(f"Worker {number + 1} of {self._size} {how} and was started again.")
            if self._fork(number):
                return number
        if failed:
            raise WorkerFailed(failed)
        return None

    def _fork(self, number: int) -> bool:
        """Whether this is the worker. A signal that comes meanwhile waits until both are ready."""
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNS)
        process = os.fork()
        if process:
            self._alive[process] = number, time.monotonic()
        else:
            self._as_before()
            # Ctrl-C is for the parent, which passes it on; heard twice it would mean "at once".
            os.setpgid(0, 0)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNS)
        return not process


def _ending(code: int) -> str:
    return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"


def _end_with(life: int) -> None:
    os.read(life, 1)
    # One that comes while the server is being imported may get lost in there.
    for _ in range(TIMES_TOLD):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(TOLD_AGAIN)
    os.kill(os.getpid(), signal.SIGKILL)
