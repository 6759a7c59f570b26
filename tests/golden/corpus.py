"""Which sessions of the corpus a test runs on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

# `make test` reads one session in this many: the whole corpus takes minutes.
FAST_EVERY = 6


def each_session(sessions: Sequence[Path]) -> list[Any]:
    """One case for each session, most of them slow; a skipped case if the corpus is not here."""
    if not sessions:
        absent = pytest.mark.skip("the corpus of real sessions is not here")
        return [pytest.param(None, marks=absent)]
    return [
        pytest.param(
            path, marks=[pytest.mark.slow] if number % FAST_EVERY else [], id=path.name[:40]
        )
        for number, path in enumerate(sessions)
    ]


def some_and_all(sessions: Sequence[Path]) -> list[Any]:
    """A case with a part of the sessions, and a slow one with all of them."""
    return [
        pytest.param(sessions[::FAST_EVERY], id="some"),
        pytest.param(sessions, id="all", marks=pytest.mark.slow),
    ]
