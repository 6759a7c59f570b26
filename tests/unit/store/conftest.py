from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.store.store_file import add_next_migration


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "state" / "holdfast" / "holdfast.db")


@pytest.fixture
def next_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make this process a newer Holdfast with one more migration, and return their folder."""
    return add_next_migration(tmp_path / "migrations", monkeypatch)
