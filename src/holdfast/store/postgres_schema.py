"""Bring a PostgreSQL database to the current version, whoever else is trying to at the moment."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from psycopg import errors

from holdfast.errors import StoreUnavailable
from holdfast.store import schema, statements

if TYPE_CHECKING:
    from psycopg import Connection

MIGRATIONS = os.path.join(schema.HERE, "migrations", "postgres")
VERSION = 13
# While other servers write.
TRIES = 5
# Two Holdfasts in two schemas of one database do not wait for each other.
LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('holdfast ' || current_schema() || ?, 0))"
NEWEST = "SELECT max(version) AS version FROM holdfast_migrations"
IS_THERE = "SELECT to_regclass('holdfast_migrations') IS NOT NULL AS there"
KEPT = """\
CREATE TABLE IF NOT EXISTS holdfast_migrations (
    version INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    applied_at TIMESTAMPTZ NOT NULL DEFAULT now()
)"""


def migrate(connection: Connection[dict[str, object]], where: str) -> None:
    """Apply what is missing, each script once, all together or not at all."""
    for is_last in (*[False] * TRIES, True):
        try:
            _migrate(connection, where)
            return
        except errors.DeadlockDetected:
            # Of two who wait for each other PostgreSQL lets one go on.
            if is_last:
                raise
        except errors.InsufficientPrivilege as problem:
            raise StoreUnavailable(
                f"{where} cannot be upgraded by this role ({problem.diag.message_primary})",
                hint="start this version once as the owner of the tables",
            ) from None


def _migrate(connection: Connection[dict[str, object]], where: str) -> None:
    if version(connection) == VERSION:
        return
    with connection.transaction():
        connection.execute(statements.translated(LOCK).encode(), (" migrations",))
        # Whoever waited for the lock finds the work done. To make the table is also what makes the
        # server look again: it may still know from before that there is none.
        connection.execute(KEPT)
        known = version(connection)
        if known > VERSION:
            raise StoreUnavailable(
                f"{where} was made by a newer Holdfast (version {known}, this one knows {VERSION})",
                hint="upgrade Holdfast on this machine too",
            )
        # To index what has come together in years takes longer than any question may.
        connection.execute("SET LOCAL statement_timeout = 0")
        for number, name, script in scripts(known):
            connection.execute(script.encode())
            connection.execute(
                "INSERT INTO holdfast_migrations (version, name) VALUES (%s, %s)", (number, name)
            )


def version(connection: Connection[dict[str, object]]) -> int:
    there = connection.execute(IS_THERE).fetchone()
    if not there or not there["there"]:
        return 0
    found = connection.execute(NEWEST).fetchone()
    number = found["version"] if found else 0
    return number if isinstance(number, int) else 0


def scripts(after: int) -> list[tuple[int, str, str]]:
    """Number, name and text of every migration newer than `after`, in order."""
    found = []
    for name in sorted(os.listdir(MIGRATIONS)):
        if name.endswith(".sql") and int(name[:4]) > after:
            with open(os.path.join(MIGRATIONS, name), encoding="utf-8") as file:
                found.append((int(name[:4]), name, file.read()))
    return found
