"""Test parameters for the sessions of the corpus."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

# Beside the checkout; not part of the project.
CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus"
PROBES = CORPUS.parent / "probes"
# `make test` uses every sixth session: the whole corpus takes minutes.
FAST_INTERVAL = 6


def each_session(sessions: Sequence[Path]) -> list[Any]:
    """One case for each session, most of them slow; a skipped case if there is no corpus."""
    if not sessions:
        no_corpus = pytest.mark.skip("the corpus of real sessions is not here")
        return [pytest.param(None, marks=no_corpus)]
    return [
        pytest.param(
            path, marks=[pytest.mark.slow] if number % FAST_INTERVAL else [], id=path.name[:40]
        )
        for number, path in enumerate(sessions)
    ]


def some_and_all(sessions: Sequence[Path]) -> list[Any]:
    """A case with every sixth session, and a slow one with all sessions."""
    return [
        pytest.param(sessions[::FAST_INTERVAL], id="some"),
        pytest.param(sessions, id="all", marks=pytest.mark.slow),
    ]
