"""Which store to use: this machine's file, or the team's PostgreSQL where one is named.

Hooks do not ask: they always write to the file, because they must not wait for a network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.store.dsn import team_url
from holdfast.store.sqlite import SQLiteStore

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.store.base import Store


def chosen_store(path: str, environ: Mapping[str, str], *, busy_seconds: float = 5.0) -> Store:
    """HOLDFAST_DATABASE if it is set, else the file at `path`."""
    if url := team_url(environ):
        from holdfast.store.postgres import PostgresStore

        return PostgresStore.at(url, busy_seconds=busy_seconds)
    return SQLiteStore(path, busy_seconds=busy_seconds)
