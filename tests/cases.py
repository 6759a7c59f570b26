"""Tests that go through many cases in one loop say which case failed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def case(*values: object) -> Iterator[None]:
    """Add the case to the message of whatever fails within."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"case: {', '.join(map(repr, values))}")
        raise
