"""Open the store for a command or tool, and ingest the latest lines of a session."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from holdfast import settings
from holdfast.errors import InvalidInput
from holdfast.settings import Settings
from holdfast.store.dsn import find_team_url
from holdfast.store.sqlite import SQLiteStore

if TYPE_CHECKING:
    from holdfast.services.compaction.ingest import IngestedSession
    from holdfast.store.protocols import SessionRow, Store


# A command waits this long for another process that writes.
LOCK_TIMEOUT_SECONDS = 5.0


def current_folder() -> str:
    """Return the folder that a command runs in; raises InvalidInput if it was deleted."""
    try:
        return os.getcwd()
    except OSError:
        raise InvalidInput(
            "The current folder no longer exists", hint="change to one that does"
        ) from None


@contextmanager
def open_store(*, team: bool = False) -> Iterator[tuple[Store, Settings]]:
    """Open the store and load the settings of this folder; close the store at the end.

    With `team`, the store is the team's if one is configured: for commands that only read what
    was saved. Whatever hooks read or transcripts hold is on this machine.
    """
    loaded = settings.load(os.environ, current_folder())
    store = _open_team_store() if team else None
    store = store or SQLiteStore(loaded.database, busy_seconds=LOCK_TIMEOUT_SECONDS)
    try:
        yield store, loaded
    finally:
        store.close()


def _open_team_store() -> Store | None:
    """Open the team's PostgreSQL database, or return None if HOLDFAST_DATABASE is not set."""
    url = find_team_url(os.environ)
    if not url:
        return None
    from holdfast.store.postgres import PostgresStore

    return PostgresStore.at(url, busy_seconds=LOCK_TIMEOUT_SECONDS)


def _find_seen_time(row: SessionRow) -> float:
    from holdfast.services.log_time import find_last_time
    from holdfast.transcript.reader import COMPRESSED_SUFFIXES

    if row["transcript"].endswith(COMPRESSED_SUFFIXES):
        # It no longer grows, so nothing was seen since.
        return row["seen_at"]
    try:
        return max(row["seen_at"], min(time.time(), find_last_time(row["transcript"])))
    except (OSError, ValueError):
        return row["seen_at"]


def refresh_session(store: Store, row: SessionRow) -> IngestedSession:
    """Ingest what the host wrote since the last hook, and return the session.

    The session counts as seen at the time of the last event in its log, not now.
    """
    # Imported late: lookups never fold, and start faster without the rules.
    from holdfast.hosts.hook_event import HookEvent
    from holdfast.services.compaction.ingest import ingest_transcript

    event = HookEvent(
        host=row["host"], name="", session_id=row["id"], transcript_path=row["transcript"]
    )
    session = ingest_transcript(store, event, _find_seen_time(row))
    store.commit()
    return session
