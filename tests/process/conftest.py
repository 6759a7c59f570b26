"""A fresh scene for every test, and servers that are gone after it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .scene import Scene
from .serving import Server, Start


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(root=tmp_path)


@pytest.fixture
def start() -> Iterator[Start]:
    """Servers that are gone after the test, however it ends."""
    made: list[Server] = []

    def started(home: Path, *options: str, **more: Any) -> Server:
        made.append(Server(home, *options, **more))
        return made[-1]

    yield started
    for server in made:
        # Also one that is gone already: what it said is read from a pipe that has to be closed.
        server.end(signal.SIGKILL)


@pytest.fixture(params=["sqlite", "postgres"])
def server(request: pytest.FixtureRequest, tmp_path: Path, start: Start) -> Server:
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else ""
    return start(tmp_path / "home", database=url)
