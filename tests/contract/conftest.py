"""One store and a second process at it, on each database in turn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.ledger.repository import Ledger
from holdfast.store.protocols import Store
from tests.contract.databases import Database, PostgreSQL, SQLiteFile


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    if request.param == "sqlite":
        return SQLiteFile(tmp_path)
    # Most tests do not mind what tables have been through; those that do say so.
    place = getattr(request.module, "PLACE", "postgres_place")
    server, url = (request.getfixturevalue(name) for name in ("postgres", place))
    return PostgreSQL(server, url)


@pytest.fixture
def store(database: Database) -> Iterator[Store]:
    with closing(database.open()) as opened:
        yield opened


@pytest.fixture
def other(database: Database, store: Store) -> Iterator[Store]:
    """A second process at the same store."""
    with closing(database.open()) as opened:
        yield opened


@pytest.fixture
def ledger(database: Database) -> Iterator[Ledger]:
    opened = database.ledger()
    with closing(opened.database):
        yield opened
