"""A fresh scene for every test."""

from __future__ import annotations

from pathlib import Path

import pytest

from .scene import Scene


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(root=tmp_path)
