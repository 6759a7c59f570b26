"""Whose turn it is to write to the SQLite file: one thread of one worker at a time.

To queue here is quicker than to find the file locked, and to try again ever less often.
"""

from __future__ import annotations

import time
from tempfile import TemporaryFile
from threading import Lock

# Between two looks whether another worker is done: a fraction of what a commit takes.
GLANCE = 0.00005


class Gate:
    """Threads queue for a lock, workers for one that belongs to a process: it ends with it, however
    that ends.
    """

    def __init__(self, workers: int = 1) -> None:
        """Made before the workers are."""
        self._threads = Lock()
        self._workers = TemporaryFile() if workers > 1 else None  # noqa: SIM115

    def acquire(self, seconds: float = -1.0) -> bool:
        """Whether it is one's turn within that time; without a limit it will be."""
        if not self._threads.acquire(timeout=seconds):
            return False
        try:
            got = self._workers is None or _locked(self._workers.fileno(), seconds)
        except BaseException:
            self._threads.release()
            raise
        if not got:
            self._threads.release()
        return got

    def release(self) -> None:
        if self._workers is not None:
            from fcntl import LOCK_UN, lockf

            lockf(self._workers.fileno(), LOCK_UN)
        self._threads.release()

    def close(self) -> None:
        if self._workers is not None:
            self._workers.close()


def _locked(descriptor: int, seconds: float) -> bool:
    from fcntl import LOCK_EX, LOCK_NB, lockf

    if seconds < 0:
        lockf(descriptor, LOCK_EX)
        return True
    end = time.monotonic() + seconds
    while True:
        try:
            lockf(descriptor, LOCK_EX | LOCK_NB)
            return True
        except OSError:
            if time.monotonic() >= end:
                return False
        time.sleep(GLANCE)


class Impatient:
    """A gate for those who must not wait: who does not get in soon is turned away."""

    def __init__(self, gate: Gate, seconds: float) -> None:
        self._gate = gate
        self._seconds = seconds
        self.release = gate.release

    def acquire(self) -> None:
        if not self._gate.acquire(self._seconds):
            raise BlockingIOError("somebody else is writing")
