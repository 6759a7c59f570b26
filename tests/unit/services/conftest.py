"""A settings file in which hooks are installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.services.install.installation import Installation


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    return Installation(tmp_path)
