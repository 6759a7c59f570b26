"""The fold's file trail against an independent checker, on real sessions."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.state.fold import advance, new_state
from holdfast.transcript.events import decode
from holdfast.transcript.reader import whole_file
from holdfast.views.artifacts import artifacts

CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus"
SESSIONS = sorted(
    path
    for path in (CORPUS.glob("*.jsonl.gz") if CORPUS.is_dir() else ())
    if "agent-" not in path.name
)


@pytest.mark.skipif(not SESSIONS, reason="the corpus of real sessions is not here")
@pytest.mark.parametrize("path", SESSIONS or [None], ids=lambda path: path and path.name[:40])
def test_the_trail_is_exactly_what_an_independent_reading_finds(path: Path) -> None:
    from holdfast.eval.artifacts import trail

    state = new_state()
    advance(state, decode(whole_file(str(path))))
    ours, theirs = artifacts(state), trail(str(path))
    assert ours.created == theirs.created
    assert ours.modified == theirs.modified
    assert ours.deleted == theirs.deleted
    assert ours.read == theirs.read
    assert ours.unknown == theirs.unknown
    # Nor do the sets contradict each other.
    assert theirs.created.isdisjoint(theirs.deleted | theirs.modified)
    assert theirs.deleted.isdisjoint(theirs.modified | theirs.read)
