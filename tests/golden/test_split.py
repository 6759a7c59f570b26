"""Real sessions can be read in parts of any size with the same result."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.state.fold import fold, new_state
from holdfast.transcript.decoder import decode
from holdfast.transcript.reader import read_lines
from tests.unit.state.folding import (
    decode_and_fold_in_pieces,
    fold_in_pieces,
    generate_splits,
    to_json,
)

from .test_file_trail import CORPUS

SESSIONS = sorted(CORPUS.glob("*.jsonl.gz"))[::9] if CORPUS.is_dir() else []


@pytest.mark.skipif(not SESSIONS, reason="the corpus of real sessions is not here")
@pytest.mark.parametrize("path", SESSIONS or [None], ids=lambda path: path and path.name[:40])
def test_the_state_does_not_depend_on_where_a_session_is_split(path: Path) -> None:
    lines = list(read_lines(str(path)))
    events = list(decode(lines))
    at_once = to_json(fold(new_state(), events))
    for cuts in generate_splits(len(events), 3):
        assert to_json(fold_in_pieces(events, cuts)) == at_once
    (cuts,) = generate_splits(len(lines), 1)
    assert to_json(decode_and_fold_in_pieces(lines, cuts)) == at_once
