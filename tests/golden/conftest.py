from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.replayed import Replayed


@pytest.fixture
def replayed(tmp_path: Path) -> Replayed:
    return Replayed(tmp_path)
