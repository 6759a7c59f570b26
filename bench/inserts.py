"""What the driver itself does: one row, one statement, one commit at a time, and nothing else.

The row is as durable as the server's: flushed to disk by its commit, on SQLite (a write-ahead log
with `synchronous = FULL`) as on PostgreSQL.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg

TABLE = "(id TEXT PRIMARY KEY, session TEXT, body TEXT)"
Insert = Callable[[str, str], object]


@contextmanager
def sqlite_driver(folder: Path) -> Iterator[Insert]:
    with closing(sqlite3.connect(folder / "plain.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"CREATE TABLE plain {TABLE}")
        statement = "INSERT INTO plain VALUES (?, 's1', ?)"
        yield lambda name, body: connection.execute(statement, (name, body))


@contextmanager
def postgres_driver(url: str) -> Iterator[Insert]:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE TABLE plain {TABLE}".encode())
        statement = "INSERT INTO plain VALUES (%s, 's1', %s)"
        yield lambda name, body: connection.execute(statement, (name, body))


def rate(insert: Insert, body: str, seconds: float) -> tuple[float, float]:
    """Rows a second, and this process's microseconds of CPU for each."""
    started, before, done = time.perf_counter(), time.process_time(), 0
    while (now := time.perf_counter()) < started + seconds:
        insert(os.urandom(8).hex(), body)
        done += 1
    return done / (now - started), 1e6 * (time.process_time() - before) / max(1, done)
