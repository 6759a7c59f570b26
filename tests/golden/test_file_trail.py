"""The file trail of the state and of briefs, compared with an independent checker."""

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
from tests.golden.file_trail import Trail, read_trail, read_trails
from tests.golden.file_trail.coverage import stale_files, uncovered_sets
from tests.golden.file_trail.fold_trail import trail_from_state

CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus"
SESSIONS = sorted(
    path
    for path in (CORPUS.glob("*.jsonl.gz") if CORPUS.is_dir() else ())
    if "agent-" not in path.name
)
NO_FILES = frozenset[str]()
TRAIL = Trail(
    created=frozenset({"new.py"}),
    modified=frozenset({"src/a.py", "src/b.py", "src/c.py"}),
    deleted=frozenset({"old.py"}),
    read=NO_FILES,
    unknown=NO_FILES,
)

on_real_sessions = pytest.mark.parametrize("path", each_session(SESSIONS))


@on_real_sessions
def test_the_trail_of_the_state_equals_the_trail_of_the_checker(path: Path) -> None:
    state = new_state()
    advance(state, decode(read_lines(str(path))))
    actual, expected = trail_from_state(state), read_trail(str(path))
    assert actual.created == expected.created
    assert actual.modified == expected.modified
    assert actual.deleted == expected.deleted
    assert actual.read == expected.read
    assert actual.unknown == expected.unknown
    # A consistency check of the checker itself.
    assert expected.created.isdisjoint(expected.deleted | expected.modified)
    assert expected.deleted.isdisjoint(expected.modified | expected.read)


@on_real_sessions
def test_a_brief_names_or_counts_changed_files_and_shows_no_deleted_file_as_present(
    path: Path,
) -> None:
    session = load_session(str(path))
    cuts = [cut for cut, _ in find_scorable_cuts(session)]
    expected, folded = (
        read_trails(str(path), [cut.line - 1 for cut in cuts]),
        FoldedSession(str(path)),
    )
    for cut in cuts:
        state = folded.fold_until(cut.line)
        for tokens in (500, 1000, 2000):
            text = build_brief_candidate(state, tokens).text
            assert uncovered_sets(TextMatcher(text, session.paths), expected[cut.line - 1]) == []
            assert stale_files(text, expected[cut.line - 1]) == []


def test_changed_files_are_covered_if_all_are_named_or_counted() -> None:
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
def test_a_deleted_file_is_stale_unless_the_text_says_that_it_is_deleted(
    text: str, stale: list[str]
) -> None:
    assert stale_files(text, TRAIL) == stale
