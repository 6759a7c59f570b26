"""Briefs and lookups of real sessions never exceed their token budget."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast.brief.render import build_brief
from holdfast.hosts import claude_code
from holdfast.services.recall.from_file import load_state
from holdfast.services.recall.lookup import look_up_in_file, render_hit
from holdfast.tokens.estimate import estimate_tokens, utf16_units
from holdfast.transcript.reader import read_lines
from tests.golden.corpus import each_session
from tests.terminal import Terminal

DEFAULT_CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus"
CORPUS = Path(os.environ.get("HOLDFAST_CORPUS", DEFAULT_CORPUS))
SESSIONS = sorted(
    path
    for pattern in ("*.jsonl", "*.jsonl.gz")
    for path in (CORPUS.glob(pattern) if CORPUS.is_dir() else ())
)
TOKEN_BUDGETS = (60, 300, 500, 1000, 2000)
pytestmark = pytest.mark.skipif(
    not SESSIONS, reason="no real sessions here; HOLDFAST_CORPUS names a folder of .jsonl files"
)


def cut_lines(path: Path) -> list[int]:
    """The lines at one third, two thirds and the end of a session."""
    count = sum(1 for _ in read_lines(str(path)))
    return [max(1, count // 3), max(1, 2 * count // 3), count]


@pytest.mark.parametrize("path", each_session(SESSIONS))
def test_a_brief_never_exceeds_its_budget(path: Path) -> None:
    for line in cut_lines(path):
        state = load_state(str(path), line)
        for budget in TOKEN_BUDGETS:
            brief = build_brief(state, tokens=budget, characters=claude_code.MAX_BRIEF_UNITS)
            assert max(brief.tokens, len(brief.text) / 3.0) <= budget
            assert utf16_units(brief.text) <= claude_code.MAX_BRIEF_UNITS
            assert brief.text or budget < 100


@pytest.mark.parametrize("path", SESSIONS[:3], ids=lambda path: path.name[:40])
def test_the_brief_command_keeps_the_budget_and_is_repeatable(
    terminal: Terminal, path: Path
) -> None:
    line = cut_lines(path)[1]
    for budget in TOKEN_BUDGETS:
        argv = ["brief", "--transcript", path, "--until-line", line, "--max-tokens", budget]
        result = terminal.run(*argv)
        assert result.code == 0
        assert len(result.out) / 3.0 <= budget
        assert terminal.run(*argv).out == result.out


@pytest.mark.parametrize("path", SESSIONS[::8], ids=lambda path: path.name[:40])
def test_a_lookup_never_exceeds_its_budget(path: Path) -> None:
    for query in ("the test failed", f"L1-{cut_lines(path)[-1]}", "fix"):
        for budget in (20, 800):
            hits = look_up_in_file(str(path), query, budget).hits
            assert estimate_tokens("".join(map(render_hit, hits))) <= budget
