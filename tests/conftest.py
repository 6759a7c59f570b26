"""What all tests share."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

# Machines are noisy, so no test is judged by the clock. With CI=true the examples are the same on
# every run: a red build can be reproduced, and a green one stays green.
settings.register_profile(
    "holdfast",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=os.environ.get("CI") == "true",
    max_examples=50,
)
settings.load_profile("holdfast")


@pytest.fixture(autouse=True, scope="session")
def _nobody_s_own_store(tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test reads or writes the store of whoever runs it."""
    os.environ["HOLDFAST_HOME"] = str(tmp_path_factory.mktemp("home"))
