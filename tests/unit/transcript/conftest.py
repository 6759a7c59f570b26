"""A transcript file, and a reader with smaller limits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.transcript import reader


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A function that sets constants of the reader."""

    def set_limits(**limits: int) -> None:
        for name, value in limits.items():
            monkeypatch.setattr(reader, name, value)

    return set_limits
