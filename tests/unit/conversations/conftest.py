from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.conversations.manager import SessionManager

Make = Callable[..., SessionManager]


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[Make]:
    """A function that opens managers on one store; all are closed at the end of the test."""
    managers: list[SessionManager] = []

    def make(**options: Any) -> SessionManager:
        managers.append(SessionManager(tmp_path / "home" / "holdfast.db", **options))
        return managers[-1]

    yield make
    for opened in managers:
        opened.close()
