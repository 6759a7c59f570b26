"""The databases that every contract is run on."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Protocol

from holdfast.ledger.repository import Ledger
from holdfast.store import sqlite_migrations
from holdfast.store.postgres import Postgres, PostgresDatabase, PostgresStore
from holdfast.store.protocols import Store
from holdfast.store.sqlite import SQLiteDatabase, SQLiteStore
from tests.postgres import Server


class Database(Protocol):
    """One place on disk; every `open` is another process's view of it."""

    def open(self, *, busy_seconds: float = 1.0) -> Store: ...

    def ledger(self) -> Ledger: ...

    def raw(self) -> bytes:
        """Everything that reached the disk, deleted or not."""


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

    def raw(self) -> bytes:
        return b"".join(file.read_bytes() for file in self.folder.iterdir())


class PostgreSQL:
    def __init__(self, server: Server, url: str) -> None:
        self.server = server
        self.url = url
        self.began = time.time()

    def open(self, *, busy_seconds: float = 1.0) -> Store:
        return PostgresStore.at(self.url, busy_seconds=busy_seconds)

    def ledger(self) -> Ledger:
        return Ledger(PostgresDatabase(Postgres(self.url, busy_seconds=1.0), owns_pool=True))

    def raw(self) -> bytes:
        self.server.ask("CHECKPOINT")
        files = [*self.server.folder.glob("base/*/*"), *self.server.folder.glob("pg_wal/*")]
        # What nobody has touched since then is of tests before this one.
        touched = [one for one in files if one.is_file() and one.stat().st_mtime >= self.began - 5]
        return b"".join(file.read_bytes() for file in touched)
