from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.transcript_replay import TranscriptReplay
from tests.process.hook_session import HookSession


@pytest.fixture
def replay(tmp_path: Path) -> TranscriptReplay:
    return TranscriptReplay(tmp_path)


@pytest.fixture
def session(tmp_path: Path) -> HookSession:
    """A session of Claude Code with a store of its own."""
    return HookSession(root=tmp_path)
