"""Migrate a PostgreSQL database. The table holdfast_migrations records the applied versions.

Migration 0001 creates version 101. Lower versions are from the first edition, which is refused.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from psycopg import errors

from holdfast.errors import StoreUnavailable
from holdfast.store import sqlite_migrations

if TYPE_CHECKING:
    from psycopg import Connection

MIGRATIONS = os.path.join(sqlite_migrations.HERE, "migrations", "postgres")
VERSION = sqlite_migrations.VERSION_OFFSET + 1
# The schema is part of the name: installations in two schemas of one database do not wait for
# each other.
LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('holdfast ' || current_schema() || ?, 0))"
HAS_VERSION_TABLE = "SELECT to_regclass('holdfast_migrations') IS NOT NULL AS found"
CURRENT_VERSION = "SELECT max(version) AS version FROM holdfast_migrations"
CREATE_VERSION_TABLE = """\
CREATE TABLE IF NOT EXISTS holdfast_migrations (
    version INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    applied_at TIMESTAMPTZ NOT NULL DEFAULT now()
)"""
ADD_VERSION = "INSERT INTO holdfast_migrations (version, name) VALUES (%s, %s)"


def migrate(connection: Connection[dict[str, object]], where: str) -> None:
    """Apply the missing migrations in one transaction; `where` names the database in errors.

    Raises StoreUnavailable for a database of the first edition or of a newer version, and if the
    role may not create tables.
    """
    version = _read_version(connection)
    if version == VERSION:
        return
    _check_version(version, where)
    try:
        with connection.transaction():
            connection.execute(LOCK.replace("?", "%s").encode(), (" migrations",))
            # Another server may have migrated while this one waited for the lock. Creating the
            # table also refreshes this connection's catalog cache, which may not contain it yet.
            connection.execute(CREATE_VERSION_TABLE)
            version = _read_version(connection)
            _check_version(version, where)
            # Migrating a large database may take longer than the timeout of a statement.
            connection.execute("SET LOCAL statement_timeout = 0")
            for number, name, script in _list_migrations(version):
                connection.execute(script.encode())
                connection.execute(ADD_VERSION, (number, name))
    except errors.InsufficientPrivilege as problem:
        raise StoreUnavailable(
            f"{where} cannot be migrated by this role ({problem.diag.message_primary})",
            hint="start this version once as the owner of the schema and its tables",
        ) from None


def _check_version(version: int, where: str) -> None:
    """Raise StoreUnavailable if this version cannot be migrated."""
    if sqlite_migrations.is_first_edition(version):
        raise StoreUnavailable(
            f"{where} has the tables of Holdfast's first edition",
            hint="name another database or schema in HOLDFAST_DATABASE, or drop these tables"
            " yourself; then run `holdfast sync` on each machine",
        )
    if version > VERSION:
        raise StoreUnavailable(
            f"{where} was made by a newer Holdfast (version {version}, this one knows {VERSION})",
            hint="upgrade Holdfast on this machine too",
        )


def _read_version(connection: Connection[dict[str, object]]) -> int:
    table = connection.execute(HAS_VERSION_TABLE).fetchone()
    if not table or not table["found"]:
        return 0
    row = connection.execute(CURRENT_VERSION).fetchone()
    version = row["version"] if row else 0
    return version if isinstance(version, int) else 0


def _list_migrations(after: int) -> list[tuple[int, str, str]]:
    """Return version, file name and text of each migration beyond version `after`, in order."""
    found = []
    for name in sorted(os.listdir(MIGRATIONS)):
        if name.endswith(".sql") and sqlite_migrations.VERSION_OFFSET + int(name[:4]) > after:
            with open(os.path.join(MIGRATIONS, name), encoding="utf-8") as file:
                found.append((sqlite_migrations.VERSION_OFFSET + int(name[:4]), name, file.read()))
    return found
