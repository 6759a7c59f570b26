"""The fold's file trail, and what briefs say of it, against an independent checker."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.eval.entities import Paths
from holdfast.eval.matching import TextMatcher
from holdfast.eval.methods import FoldedSession, build_brief_candidate
from holdfast.eval.run import find_scorable_cuts
from holdfast.eval.session import load_session
from holdfast.state.fold import advance, new_state
from holdfast.transcript.decoder import decode
from holdfast.transcript.reader import read_lines
from tests.golden.corpus import each_session
from tests.golden.file_trail import Trail, trail, trails
from tests.golden.file_trail.coverage import stale_files, uncovered_sets
from tests.golden.file_trail.folded import folded_trail

CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus"
SESSIONS = sorted(
    path
    for path in (CORPUS.glob("*.jsonl.gz") if CORPUS.is_dir() else ())
    if "agent-" not in path.name
)
NOTHING = frozenset[str]()
TRAIL = Trail(
    created=frozenset({"new.py"}),
    modified=frozenset({"src/a.py", "src/b.py", "src/c.py"}),
    deleted=frozenset({"old.py"}),
    read=NOTHING,
    unknown=NOTHING,
)

on_real_sessions = pytest.mark.parametrize("path", each_session(SESSIONS))


@on_real_sessions
def test_the_trail_is_exactly_what_an_independent_reading_finds(path: Path) -> None:
    state = new_state()
    advance(state, decode(read_lines(str(path))))
    ours, theirs = folded_trail(state), trail(str(path))
    assert ours.created == theirs.created
    assert ours.modified == theirs.modified
    assert ours.deleted == theirs.deleted
    assert ours.read == theirs.read
    assert ours.unknown == theirs.unknown
    # Nor do the sets contradict each other.
    assert theirs.created.isdisjoint(theirs.deleted | theirs.modified)
    assert theirs.deleted.isdisjoint(theirs.modified | theirs.read)


@on_real_sessions
def test_a_brief_names_or_counts_every_changed_file_and_shows_no_deleted_one(path: Path) -> None:
    session = load_session(str(path))
    cuts = [cut for cut, _ in find_scorable_cuts(session)]
    truth, folded = trails(str(path), [cut.line - 1 for cut in cuts]), FoldedSession(str(path))
    for cut in cuts:
        state = folded.fold_until(cut.line)
        for tokens in (500, 1000, 2000):
            text = build_brief_candidate(state, tokens).text
            assert uncovered_sets(TextMatcher(text, session.paths), truth[cut.line - 1]) == []
            assert stale_files(text, truth[cut.line - 1]) == []


def test_changed_files_are_covered_if_all_named_or_counted() -> None:
    cases = [
        ("created new.py; src/a.py src/b.py src/c.py; old.py deleted", []),
        ("created new.py; modified 3 files; deleted old.py", []),
        ("1 created · 3 modified · 1 deleted", []),
        ("new.py, old.py, src/a.py and 2 more modified", []),
        ("modified: src/a.py, src/b.py, … 1 more; new.py old.py", []),
        ("new.py, old.py, src/a.py and 1 more modified", ["modified"]),
        ("new.py, old.py, src/a.py edited 3×", ["modified"]),
        ("src/: a.py, b.py, c.py; new.py", ["deleted"]),
        ("", ["created", "modified", "deleted"]),
    ]
    for text, uncovered in cases:
        assert uncovered_sets(TextMatcher(text, Paths(["/repo"])), TRAIL) == uncovered, text


@pytest.mark.parametrize(
    ("text", "stale"),
    [
        ("- old.py — edited", ["old.py"]),
        ("- old.py — deleted", []),
        ("# Deleted\n- old.py", []),
        ("# Deleted\n- x.py\n# Read\n- old.py", ["old.py"]),
        ("“look at old.py”", []),
    ],
)
def test_a_deleted_file_is_stale_unless_it_is_said_to_be_gone(text: str, stale: list[str]) -> None:
    assert stale_files(text, TRAIL) == stale
