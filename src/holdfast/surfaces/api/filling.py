"""Keep the index filled while the server runs: by a process of its own, so that requests are not
held up by it.
"""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from holdfast.surfaces import apart

if TYPE_CHECKING:
    from holdfast.settings import Settings
    from holdfast.store.base import Store

FILLER = "holdfast.surfaces.filling"


class Filling:
    """Starts the process whenever hooks have saved something since the last time."""

    def __init__(self, chosen: Settings) -> None:
        self._command = apart.command(FILLER, chosen.database, chosen.index)
        self._running: subprocess.Popen[bytes] | None = None
        self._seen: set[tuple[str, float]] = set()

    def keep_up(self, store: Store) -> None:
        """Start it if there is something to do and it is not at work."""
        if self._running is not None:
            ended = self._running.poll()
            if ended is None:
                return
            self._running = None
            if ended:
                # There was more than it had time for, or it failed: the next one goes on.
                self._seen = set()
        seen = {(row["id"], row["seen_at"]) for row in store.transcripts(None)}
        if seen - self._seen:
            self._seen = seen
            self._running = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, env=dict(os.environ),
            )  # fmt: skip

    def close(self) -> None:
        """What it has not finished is as if it had not begun."""
        if self._running is not None:
            self._running.terminate()
            self._running.wait()
