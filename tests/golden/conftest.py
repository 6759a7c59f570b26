from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.transcript_replay import TranscriptReplay


@pytest.fixture
def replay(tmp_path: Path) -> TranscriptReplay:
    return TranscriptReplay(tmp_path)
