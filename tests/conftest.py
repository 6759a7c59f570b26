"""What all tests share."""

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
    from tests.postgres import Server
    from tests.terminal import Terminal

# Machines are noisy, so no test is judged by the clock. The examples are the same on every run: a
# red build can be reproduced, and a green one stays green. HOLDFAST_TEST_EXAMPLES looks further.
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
    """Thousands of tests stay to the end: the garbage collector need not look at them each time."""
    gc.collect()
    gc.freeze()


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


@pytest.fixture
def postgres_place(postgres: Server) -> Iterator[str]:
    """The same with its tables made, for tests that are not about how they are."""
    with postgres.place() as url:
        yield url


@pytest.fixture
def terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Terminal:
    """A terminal of its own for each test."""
    from tests.terminal import Terminal

    return Terminal(tmp_path, monkeypatch, capsys)


@pytest.fixture(scope="session")
def rehearsal(tmp_path_factory: pytest.TempPathFactory) -> SelfTest:
    """The example session, saved, compacted and restored once for all tests."""
    from holdfast.services.doctor.self_test import run_self_test

    done = run_self_test(str(tmp_path_factory.mktemp("rehearsal")), time.time())
    assert done.ok, done.steps
    return done


@pytest.fixture
def seasoned(terminal: Terminal, rehearsal: SelfTest) -> Iterator[Terminal]:
    """A terminal in the example's project, with a store of its own that knows the session."""
    project = Path(rehearsal.demo.project_dir)
    shutil.copytree(rehearsal.home, terminal.store)
    terminal.go(project)
    yield terminal
    # Notes stand in the project, which all tests share: the next one would find them.
    shutil.rmtree(project / ".holdfast", ignore_errors=True)
