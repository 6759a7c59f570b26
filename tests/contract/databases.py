"""The databases that every contract test runs on."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Protocol

from holdfast.ledger.repository import Ledger
from holdfast.store import sqlite_migrations
from holdfast.store.postgres import Postgres, PostgresDatabase, PostgresStore
from holdfast.store.protocols import Store
from holdfast.store.sqlite import SQLiteDatabase, SQLiteStore
from tests.postgres import PostgresServer


class Database(Protocol):
    """One database; every `open` is a new connection, as another process has it."""

    def open(self, *, busy_seconds: float = 1.0) -> Store: ...

    def ledger(self) -> Ledger: ...

    def read_raw_bytes(self) -> bytes:
        """Everything that was written to disk, also if it was deleted."""


class SQLiteFile:
    def __init__(self, folder: Path) -> None:
        self.folder = folder / "home"

    def open(self, *, busy_seconds: float = 1.0) -> Store:
        return SQLiteStore(str(self.folder / "holdfast.db"), busy_seconds=busy_seconds)

    def ledger(self) -> Ledger:
        path = str(self.folder / "ledger.db")
        return Ledger(
            SQLiteDatabase(path, busy_seconds=1.0, migrations=sqlite_migrations.LEDGER_MIGRATIONS)
        )

    def read_raw_bytes(self) -> bytes:
        return b"".join(file.read_bytes() for file in self.folder.iterdir())


class PostgreSQL:
    def __init__(self, server: PostgresServer, url: str) -> None:
        self.server = server
        self.url = url
        self.started_at = time.time()

    def open(self, *, busy_seconds: float = 1.0) -> Store:
        return PostgresStore.at(self.url, busy_seconds=busy_seconds)

    def ledger(self) -> Ledger:
        return Ledger(PostgresDatabase(Postgres(self.url, busy_seconds=1.0), owns_pool=True))

    def read_raw_bytes(self) -> bytes:
        self.server.execute("CHECKPOINT")
        files = [*self.server.folder.glob("base/*/*"), *self.server.folder.glob("pg_wal/*")]
        # Older files belong to earlier tests.
        earliest = self.started_at - 5
        changed = [file for file in files if file.is_file() and file.stat().st_mtime >= earliest]
        return b"".join(file.read_bytes() for file in changed)
