"""Real summaries of hosts cause no false conflicts with the state."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from holdfast.brief.conflicts import find_conflicts
from holdfast.brief.summary_overlap import SearchableSummary
from holdfast.brief.summary_todos import is_marked_done, parse_todos
from holdfast.state.fold import advance, new_state
from holdfast.transcript.decoder import decode
from holdfast.transcript.reader import read_lines

from .corpus import each_session
from .test_file_trail import SESSIONS

SUMMARY_MARKER = b'"isCompactSummary":'


def find_summaries(lines: list[bytes]) -> list[tuple[int, SearchableSummary]]:
    """Each summary, with the number of lines before it."""
    summaries = []
    for number, line in enumerate(lines):
        entry = json.loads(line) if SUMMARY_MARKER in line else {}
        if entry.get("isCompactSummary"):
            content = entry["message"]["content"]
            parts = [content] if isinstance(content, str) else [block["text"] for block in content]
            summaries.append((number, SearchableSummary("\n".join(parts))))
    return summaries


@pytest.mark.parametrize("path", each_session(SESSIONS))
def test_real_summaries_cause_no_false_conflict(path: Path, tmp_path: Path) -> None:
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    for before, summary in find_summaries(lines):
        part = tmp_path / f"{before}.jsonl"
        part.write_bytes(b"".join(lines[:before]))
        state = new_state()
        advance(state, decode(read_lines(str(part))))
        conflicts = [item.forms[0] for item in find_conflicts(state, (), summary)]
        # True conflict: a summary marks an item as done that is still open in the plan.
        assert [line for line in conflicts if "still open in the plan" not in line] == []
        assert all(is_marked_done(line.partition("the summary says ")[2]) for line in conflicts)


@pytest.mark.skipif(not SESSIONS, reason="the corpus of real sessions is not here")
def test_todos_are_found_in_most_real_summaries() -> None:
    """Without todos the test above could not fail."""
    todo_counts = [
        len(parse_todos(summary.text))
        for path in SESSIONS
        for _, summary in find_summaries(gzip.decompress(path.read_bytes()).splitlines())
    ]
    assert len(todo_counts) >= 40
    assert sum(count > 0 for count in todo_counts) >= 0.8 * len(todo_counts)
