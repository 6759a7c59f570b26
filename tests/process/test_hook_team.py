"""Hooks write to the local store even if a team's database is configured."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from .hook_session import HookSession


@dataclass
class TeamHookSession(HookSession):
    """A session whose environment names a team's database."""

    port: int = 0

    @property
    def environment(self) -> dict[str, str]:
        team = f"postgresql://ada@127.0.0.1:{self.port}/team?connect_timeout=2"
        return {**super().environment, "HOLDFAST_DATABASE": team}


@pytest.fixture
def team_socket() -> Iterator[socket.socket]:
    """A listening socket in place of the team's database, to detect connections."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


def test_hooks_never_connect_to_the_team_database(
    tmp_path: Path, team_socket: socket.socket
) -> None:
    session = TeamHookSession(root=tmp_path, port=team_socket.getsockname()[1])
    session.write(session.demo.before)
    assert session.run_hook("Stop").is_silent
    assert session.run_hook("PreCompact").exit_code == 0
    brief = session.run_hook("SessionStart", source="compact").brief
    assert "Never touch anything under migrations/" in brief
    assert session.read_row()["state"] == session.fold_transcript()
    assert len(session.list_compactions()) == 1
    with pytest.raises(BlockingIOError):
        team_socket.accept()
    assert session.read_log() == []
