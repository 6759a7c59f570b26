"""Hooks where a team's store is named: they write to this machine and call nobody."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from .scene import Scene


@dataclass
class InATeam(Scene):
    """A user whose environment names a team's store."""

    port: int = 0

    @property
    def environment(self) -> dict[str, str]:
        team = f"postgresql://ada@127.0.0.1:{self.port}/team?connect_timeout=2"
        return {**super().environment, "HOLDFAST_DATABASE": team}


@pytest.fixture
def team() -> Iterator[socket.socket]:
    """Where the team's store would answer; it only notes who calls."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        yield listening


def test_hooks_never_connect_to_the_team_database(tmp_path: Path, team: socket.socket) -> None:
    scene = InATeam(root=tmp_path, port=team.getsockname()[1])
    scene.write(scene.demo.before)
    assert scene.fire("Stop").is_silent
    assert scene.compacts().code == 0
    brief = scene.fire("SessionStart", source="compact").brief
    assert "Never touch anything under migrations/" in brief
    assert scene.row()["state"] == scene.folded()
    assert len(scene.compactions()) == 1
    with pytest.raises(BlockingIOError):
        team.accept()
    assert scene.log() == []
