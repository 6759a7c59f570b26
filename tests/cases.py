"""Names the failed case in tests that check many cases in one loop."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def report_case(*values: object) -> Iterator[None]:
    """Add the values of the case to the error if the block fails."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"case: {', '.join(map(repr, values))}")
        raise
