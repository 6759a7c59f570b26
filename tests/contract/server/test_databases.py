"""Connections are kept for the next request unless something is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast import settings
from holdfast.errors import Conflict, Forbidden, NotFound
from holdfast.server.databases import Connections, LocalDatabases


def after(databases: LocalDatabases, problem: Exception) -> tuple[Connections, Connections]:
    """What a request has that ends with this problem, and what the next one has."""
    with pytest.raises(type(problem)), databases.connect() as first:
        raise problem
    with databases.connect() as second:
        return first, second


@pytest.mark.parametrize("problem", [NotFound("x"), Conflict("x"), Forbidden("x")])
def test_a_request_that_is_refused_leaves_its_connections_to_the_next(
    tmp_path: Path, problem: Exception
) -> None:
    databases = LocalDatabases(settings.load({"HOLDFAST_HOME": str(tmp_path)}))
    first, second = after(databases, problem)
    assert first is second
    databases.close()


def test_nobody_gets_connections_that_a_bug_has_left_behind(tmp_path: Path) -> None:
    databases = LocalDatabases(settings.load({"HOLDFAST_HOME": str(tmp_path)}))
    first, second = after(databases, ZeroDivisionError())
    assert first is not second
    databases.close()
