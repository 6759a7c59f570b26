"""Open the ledger: this machine's file, or the team's PostgreSQL where one is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.ledger.ledger import Ledger
from holdfast.store import schema
from holdfast.store.dsn import team_url
from holdfast.store.sqlite import SQLiteDatabase

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

BUSY_SECONDS = 5.0


def local_ledger(
    path: str,
    *,
    gate: Any = None,
    busy_seconds: float = BUSY_SECONDS,
    heard: Callable[[], None] | None = None,
) -> Ledger:
    """`gate` is for threads that pass connections around: one writes at a time.

    `heard` is called when changes were written.
    """
    database = SQLiteDatabase(
        path, busy_seconds=busy_seconds, any_thread=gate is not None, plan=schema.LEDGER,
        gate=gate, heard=heard,
    )  # fmt: skip
    return Ledger(database)


def chosen_ledger(path: str, environ: Mapping[str, str]) -> Ledger:
    """HOLDFAST_DATABASE if it is set, else the file at `path`."""
    if url := team_url(environ):
        from holdfast.store.postgres import Postgres, PostgresDatabase

        postgres = Postgres(url, busy_seconds=BUSY_SECONDS, most=2)
        return Ledger(PostgresDatabase(postgres, owns=True))
    return local_ledger(path)
