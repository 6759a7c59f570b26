"""Open the ledger: the local SQLite file, or the team's PostgreSQL database if one is set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.ledger.repository import Ledger
from holdfast.store import sqlite_migrations
from holdfast.store.dsn import find_team_url
from holdfast.store.sqlite import SQLiteDatabase

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from threading import Lock

# How long a statement waits for a lock of another process.
BUSY_SECONDS = 5.0


def open_local_ledger(
    path: str,
    *,
    busy_seconds: float = BUSY_SECONDS,
    any_thread: bool = False,
    on_change: Callable[[], None] | None = None,
    write_lock: Lock | None = None,
) -> Ledger:
    """Open the ledger in a SQLite file, which is created if needed.

    With `any_thread` the caller makes sure that one thread uses the connection at a time.
    `on_change` is called after each commit that changed rows. `write_lock` is shared by the threads
    that write.
    """
    database = SQLiteDatabase(
        path,
        busy_seconds=busy_seconds,
        any_thread=any_thread,
        migrations=sqlite_migrations.LEDGER_MIGRATIONS,
        on_change=on_change,
        write_lock=write_lock,
    )
    return Ledger(database)


def open_ledger(path: str, environ: Mapping[str, str]) -> Ledger:
    """Open the database in HOLDFAST_DATABASE if it is set, else the file at `path`."""
    if url := find_team_url(environ):
        from holdfast.store.postgres import Postgres, PostgresDatabase

        postgres = Postgres(url, busy_seconds=BUSY_SECONDS, max_connections=2)
        return Ledger(PostgresDatabase(postgres, owns_pool=True))
    return open_local_ledger(path)
