"""What all tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from tests.postgres import Server

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
    os.environ.pop("HOLDFAST_DATABASE", None)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A real PostgreSQL, started when the first test asks for it."""
    from tests.postgres import Server

    server = Server()
    yield server
    server.stop()


@pytest.fixture
def postgres_url(postgres: Server) -> Iterator[str]:
    """An empty database of one's own, as far as anybody can tell."""
    with postgres.schema() as url:
        yield url
