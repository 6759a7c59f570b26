"""The evaluation on real sessions: properties that do not depend on the brief's content."""

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


def test_no_brief_exceeds_its_budget_and_every_brief_is_repeatable(
    scored: list[TranscriptScores],
) -> None:
    brief_figures = [
        row.figures for scores in scored for row in scores.rows if "overshoots" in row.figures
    ]
    assert brief_figures
    for name in ("overshoots", "over_cap", "not_repeatable", "not_shorter"):
        assert sum(figures[name] for figures in brief_figures) == 0


def test_a_larger_budget_never_lowers_the_recall_of_a_name_dump(
    scored: list[TranscriptScores],
) -> None:
    recalls = {
        (scores.path, row.arm, row.line, row.budget): row.figures["frr"]
        for scores in scored
        for row in scores.rows
        if row.method == "name dump"
    }
    assert recalls
    for (path, arm, line, budget), recall in recalls.items():
        if budget > 500:
            assert recall >= recalls[path, arm, line, 500]
