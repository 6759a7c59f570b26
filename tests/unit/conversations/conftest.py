from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.conversations.manager import SessionManager

Make = Callable[..., SessionManager]


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[Make]:
    """Makes managers of one store; each is closed in the end."""
    made: list[SessionManager] = []

    def make(**options: Any) -> SessionManager:
        made.append(SessionManager(tmp_path / "home" / "holdfast.db", **options))
        return made[-1]

    yield make
    for one in made:
        one.close()
