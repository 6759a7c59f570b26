"""The run of faults and attacks works: a short one loses nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_a_short_torture_run_loses_nothing() -> None:
    process = subprocess.run(
        [sys.executable, "-m", "tests.torture", "--minutes", "1", "--seed", "7"],
        cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert process.returncode == 0, process.stdout[-3000:] + process.stderr[-3000:]
    for part in ("kills", "damage", "full disk", "repositories", "secrets"):
        assert f"{part}: " in process.stdout
