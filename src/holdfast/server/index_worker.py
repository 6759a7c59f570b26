"""Keeps the full-text index up to date while the server runs, in a process of its own, so that
indexing does not delay requests.
"""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from holdfast import processes

if TYPE_CHECKING:
    from holdfast.settings import Settings
    from holdfast.store.protocols import Store

INDEXER = "holdfast.hooks.background_index"


class IndexWorker:
    """Starts the indexer whenever hooks have saved something since its last run."""

    def __init__(self, settings: Settings) -> None:
        self._command = processes.build_command(INDEXER, settings.database, settings.index)
        self._process: subprocess.Popen[bytes] | None = None
        self._indexed: set[tuple[str, float]] = set()

    def start_if_needed(self, store: Store) -> None:
        """Start the indexer if there is something to index and it is not running."""
        if self._process is not None:
            exit_code = self._process.poll()
            if exit_code is None:
                return
            self._process = None
            if exit_code:
                # It ran out of time or failed: start it again for the same sessions.
                self._indexed = set()
        sessions = {(row["id"], row["seen_at"]) for row in store.transcripts(None)}
        if sessions - self._indexed:
            self._indexed = sessions
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, env=dict(os.environ),
            )  # fmt: skip

    def close(self) -> None:
        """Stop the indexer. A session that it has not finished is indexed again by the next run."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
