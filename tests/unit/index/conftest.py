"""An index of its own for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.index.database import Index


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    with Index(str(tmp_path / "home" / "recall.db")) as opened:
        yield opened
