"""The harness on real sessions: what must hold whatever the brief says."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.eval.config import EvalConfig
from holdfast.eval.run import TranscriptScores, score

CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus"
SESSIONS = sorted(CORPUS.glob("*__*-*.jsonl.gz"))[::6] if CORPUS.is_dir() else []


@pytest.fixture(scope="module")
def scored() -> list[TranscriptScores]:
    if not SESSIONS:
        pytest.skip("the corpus of real sessions is not here")
    return [score(str(path), EvalConfig(quick=True)) for path in SESSIONS]


def test_no_budget_is_overshot_and_every_brief_is_repeatable(
    scored: list[TranscriptScores],
) -> None:
    ours = [row.figures for each in scored for row in each.rows if "overshoots" in row.figures]
    assert ours
    for name in ("overshoots", "over_cap", "not_repeatable", "not_shorter"):
        assert sum(figures[name] for figures in ours) == 0


def test_more_room_says_more_names(scored: list[TranscriptScores]) -> None:
    dumps = {
        (each.path, row.arm, row.line, row.budget): row.figures["frr"]
        for each in scored
        for row in each.rows
        if row.method == "name dump"
    }
    assert dumps
    for (path, arm, line, budget), recall in dumps.items():
        if budget > 500:
            assert recall >= dumps[path, arm, line, 500]
