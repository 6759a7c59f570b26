"""Fixtures: a session with hooks, and servers that are stopped after the test."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .hook_session import HookSession
from .serving import Server, Start


@pytest.fixture
def session(tmp_path: Path) -> HookSession:
    return HookSession(root=tmp_path)


@pytest.fixture
def start() -> Iterator[Start]:
    """A function that starts a server; all of them are killed after the test."""
    servers: list[Server] = []

    def start_server(home: Path, *options: str, **arguments: Any) -> Server:
        servers.append(Server(home, *options, **arguments))
        return servers[-1]

    yield start_server
    for server in servers:
        # Also if it has ended already: the pipe of its stderr has to be closed.
        server.stop_with(signal.SIGKILL)


@pytest.fixture(params=["sqlite", "postgres"])
def server(request: pytest.FixtureRequest, tmp_path: Path, start: Start) -> Server:
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else ""
    return start(tmp_path / "home", database=url)


@pytest.fixture
def hidden_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers that are started in this test cannot tell which user calls, as on macOS."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        "from holdfast.server import peer_user\npeer_user.find_user = lambda *_: None\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(folder))
