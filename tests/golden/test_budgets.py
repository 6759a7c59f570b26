"""Real sessions, if there are some: no error, and never a token too many."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast.actions.lookup import look_up_in_file
from holdfast.actions.recall import printed
from holdfast.actions.transcript_file import state_of_file
from holdfast.brief.render import build
from holdfast.brief.tokens import estimate, units
from holdfast.hosts import claude_code
from holdfast.transcript.reader import whole_file
from tests.terminal import Terminal

BESIDE = Path(__file__).parents[2].parent / "shared" / "corpus"
CORPUS = Path(os.environ.get("HOLDFAST_CORPUS", BESIDE))
SESSIONS = sorted(
    path
    for ending in ("*.jsonl", "*.jsonl.gz")
    for path in (CORPUS.glob(ending) if CORPUS.is_dir() else ())
)
BUDGETS = (60, 300, 500, 1000, 2000)
pytestmark = pytest.mark.skipif(
    not SESSIONS, reason="no real sessions here; HOLDFAST_CORPUS names a folder of .jsonl files"
)


def cuts(path: Path) -> list[int]:
    count = sum(1 for _ in whole_file(str(path)))
    return [max(1, count // 3), max(1, 2 * count // 3), count]


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.name[:40])
def test_no_session_exceeds_a_budget_at_any_cut(path: Path) -> None:
    for line in cuts(path):
        state = state_of_file(str(path), line)
        for budget in BUDGETS:
            brief = build(state, tokens=budget, characters=claude_code.CHARACTERS)
            assert max(brief.tokens, len(brief.text) / 3.0) <= budget
            assert units(brief.text) <= claude_code.CHARACTERS
            assert brief.text or budget < 100


@pytest.mark.parametrize("path", SESSIONS[:3], ids=lambda path: path.name[:40])
def test_the_command_line_gives_that_brief(terminal: Terminal, path: Path) -> None:
    line = cuts(path)[1]
    for budget in BUDGETS:
        argv = ["brief", "--transcript", path, "--until-line", line, "--max-tokens", budget]
        ran = terminal.run(*argv)
        assert ran.code == 0
        assert len(ran.out) / 3.0 <= budget
        assert terminal.run(*argv).out == ran.out


@pytest.mark.parametrize("path", SESSIONS[::8], ids=lambda path: path.name[:40])
def test_recall_keeps_its_budget_too(path: Path) -> None:
    for query in ("the test failed", f"L1-{cuts(path)[-1]}", "fix"):
        for budget in (20, 800):
            hits = look_up_in_file(str(path), query, budget).hits
            assert estimate("".join(map(printed, hits))) <= budget
