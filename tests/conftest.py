"""Fixtures and settings that all tests share."""

from __future__ import annotations

import gc
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from holdfast.services.doctor.self_test import SelfTest
    from tests.postgres import PostgresServer
    from tests.terminal import Terminal

# No deadlines, because test machines are busy. The examples are the same in every run, so that a
# failure can be reproduced; HOLDFAST_TEST_EXAMPLES tries that many new ones instead.
EXAMPLES = int(os.environ.get("HOLDFAST_TEST_EXAMPLES", "0"))
settings.register_profile(
    "holdfast",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=not EXAMPLES,
    max_examples=EXAMPLES or 50,
)
settings.load_profile("holdfast")


def pytest_collection_finish() -> None:
    """Exclude the collected tests from garbage collection: they are needed until the run ends."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def _use_temporary_store(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Point Holdfast at a temporary folder, so that no test uses the developer's own store."""
    os.environ["HOLDFAST_HOME"] = str(tmp_path_factory.mktemp("home"))
    os.environ.pop("HOLDFAST_DATABASE", None)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A real PostgreSQL server, started for the first test that needs it."""
    from tests.postgres import PostgresServer

    server = PostgresServer()
    yield server
    server.stop()


@pytest.fixture
def postgres_url(postgres: PostgresServer) -> Iterator[str]:
    """The URL of a new, empty schema that only this test uses."""
    with postgres.create_schema() as url:
        yield url


@pytest.fixture
def migrated_postgres_url(postgres: PostgresServer) -> Iterator[str]:
    """The URL of a schema with all tables and no rows. Faster than `postgres_url`: it is reused."""
    with postgres.lend_migrated_schema() as url:
        yield url


@pytest.fixture
def terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Terminal:
    """A terminal with its own home, project and store."""
    from tests.terminal import Terminal

    return Terminal(tmp_path, monkeypatch, capsys)


@pytest.fixture(scope="session")
def self_test(tmp_path_factory: pytest.TempPathFactory) -> SelfTest:
    """The demo session, saved, compacted and restored once for all tests; do not change it."""
    from holdfast.services.doctor.self_test import run_self_test

    result = run_self_test(str(tmp_path_factory.mktemp("self_test")), time.time())
    assert result.ok, result.steps
    return result


@pytest.fixture
def demo_terminal(terminal: Terminal, self_test: SelfTest) -> Iterator[Terminal]:
    """A terminal in the demo's project, with its own copy of the store of `self_test`."""
    project = Path(self_test.demo.project_dir)
    shutil.copytree(self_test.home, terminal.store)
    terminal.change_folder(project)
    yield terminal
    # All tests share the project folder, so notes that this test wrote are deleted.
    shutil.rmtree(project / ".holdfast", ignore_errors=True)
