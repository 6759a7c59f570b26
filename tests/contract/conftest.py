"""Fixtures: a store, a second connection to it, and a ledger, on each database."""

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
    # Tables are reused by default. A module whose tests need new ones names another fixture.
    url_fixture = getattr(request.module, "POSTGRES_URL_FIXTURE", "migrated_postgres_url")
    server, url = (request.getfixturevalue(name) for name in ("postgres", url_fixture))
    return PostgreSQL(server, url)


@pytest.fixture
def store(database: Database) -> Iterator[Store]:
    with closing(database.open()) as store:
        yield store


@pytest.fixture
def second_store(database: Database, store: Store) -> Iterator[Store]:
    """A second connection to the same store, as another process has it."""
    with closing(database.open()) as second:
        yield second


@pytest.fixture
def ledger(database: Database) -> Iterator[Ledger]:
    ledger = database.ledger()
    with closing(ledger.database):
        yield ledger
