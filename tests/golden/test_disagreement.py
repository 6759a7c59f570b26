"""Real summaries, and no notes to disagree with: what the log says alone raises no false alarm."""

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

MARK = b'"isCompactSummary":'


def summaries(lines: list[bytes]) -> list[tuple[int, SearchableSummary]]:
    """Each summary with the number of lines before it."""
    found = []
    for number, line in enumerate(lines):
        told = json.loads(line) if MARK in line else {}
        if told.get("isCompactSummary"):
            content = told["message"]["content"]
            parts = [content] if isinstance(content, str) else [one["text"] for one in content]
            found.append((number, SearchableSummary("\n".join(parts))))
    return found


@pytest.mark.parametrize("path", each_session(SESSIONS))
def test_no_real_summary_is_accused_of_what_it_did_not_say(path: Path, tmp_path: Path) -> None:
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    for before, summary in summaries(lines):
        part = tmp_path / f"{before}.jsonl"
        part.write_bytes(b"".join(lines[:before]))
        state = new_state()
        advance(state, decode(read_lines(str(part))))
        told = [item.forms[0] for item in find_conflicts(state, (), summary)]
        # One ticks off what stands in the plan as under way: that is what it says.
        assert [line for line in told if "still open in the plan" not in line] == []
        assert all(is_marked_done(line.partition("the summary says ")[2]) for line in told)


@pytest.mark.skipif(not SESSIONS, reason="the corpus of real sessions is not here")
def test_the_open_tasks_of_real_summaries_are_found() -> None:
    """Otherwise the test above could not fail."""
    found = [
        len(parse_todos(summary.text))
        for path in SESSIONS
        for _, summary in summaries(gzip.decompress(path.read_bytes()).splitlines())
    ]
    assert len(found) >= 40
    assert sum(count > 0 for count in found) >= 0.8 * len(found)
