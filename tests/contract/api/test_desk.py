"""Connections are kept for the next request unless something is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast import settings
from holdfast.errors import NoSuchRecord, NotAllowed, NotNow
from holdfast.surfaces.api.desk import Books
from holdfast.surfaces.api.local_desk import LocalDesk


def after(desk: LocalDesk, problem: Exception) -> tuple[Books, Books]:
    """What a request has that ends with this problem, and what the next one has."""
    with pytest.raises(type(problem)), desk.books() as first:
        raise problem
    with desk.books() as second:
        return first, second


@pytest.mark.parametrize("problem", [NoSuchRecord("x"), NotNow("x"), NotAllowed("x")])
def test_a_request_that_is_refused_leaves_its_connections_to_the_next(
    tmp_path: Path, problem: Exception
) -> None:
    desk = LocalDesk(settings.load({"HOLDFAST_HOME": str(tmp_path)}))
    first, second = after(desk, problem)
    assert first is second
    desk.close()


def test_nobody_gets_connections_that_a_bug_has_left_behind(tmp_path: Path) -> None:
    desk = LocalDesk(settings.load({"HOLDFAST_HOME": str(tmp_path)}))
    first, second = after(desk, ZeroDivisionError())
    assert first is not second
    desk.close()
