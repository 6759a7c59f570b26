from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import processes
from tests.unit.store.store_file import add_next_migration, close_old_files


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "state" / "holdfast" / "holdfast.db")


@pytest.fixture
def next_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make this process a newer Holdfast with one more migration, and return their folder."""
    return add_next_migration(tmp_path / "migrations", monkeypatch)


@pytest.fixture
def salvage_in_this_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A damaged database is salvaged at once, and no process is started for it."""
    monkeypatch.setattr(processes, "start_process", lambda *_: 0)
    yield
    close_old_files()
