"""Connections go back to the pool after a request, unless it failed unexpectedly."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast import settings
from holdfast.errors import Conflict, Forbidden, NotFound
from holdfast.server.databases import Connections, LocalDatabases


def connect_twice(databases: LocalDatabases, error: Exception) -> tuple[Connections, Connections]:
    """The connections of a request that raises `error`, and those of the next request."""
    with pytest.raises(type(error)), databases.connect() as first:
        raise error
    with databases.connect() as second:
        return first, second


@pytest.mark.parametrize("error", [NotFound("x"), Conflict("x"), Forbidden("x")])
def test_connections_of_a_refused_request_are_reused(tmp_path: Path, error: Exception) -> None:
    databases = LocalDatabases(settings.load({"HOLDFAST_HOME": str(tmp_path)}))
    first, second = connect_twice(databases, error)
    assert first is second
    databases.close()


def test_connections_are_not_reused_after_an_unexpected_error(tmp_path: Path) -> None:
    databases = LocalDatabases(settings.load({"HOLDFAST_HOME": str(tmp_path)}))
    first, second = connect_twice(databases, ZeroDivisionError())
    assert first is not second
    databases.close()
