"""A complete evaluation run: rows, report, tables, chart and list of misses."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from holdfast.eval import tables
from holdfast.eval.chart import build_curves, render_page
from holdfast.eval.config import EvalConfig
from holdfast.eval.methods import BOTH, BRIEF, SUMMARY, FoldedSession
from holdfast.eval.misses import find_misses
from holdfast.eval.multi_compaction import CHAINED_BRIEF, build_chained_briefs
from holdfast.eval.report import build_report
from holdfast.eval.run import TranscriptScores, score, score_all
from holdfast.eval.session import load_session
from holdfast.state.fold import advance, new_state
from holdfast.transcript.decoder import decode
from holdfast.transcript.reader import read_lines
from tests.unit.eval.transcript import (
    Line,
    bash,
    call,
    compaction_summary,
    edited,
    prompt,
    read,
    reply,
    session_file,
)


def repeated_work(count: int) -> list[Line]:
    """Reads and edits of the same twelve files, so that names are used again after a cut."""
    steps: list[Line] = []
    for number in range(count):
        steps += (
            edited(f"src/part_{number % 12}.py")
            if number % 3
            else read(f"src/part_{number % 12}.py", text="def load_settings(): ...")
        )
    return steps


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    return session_file(
        tmp_path_factory.mktemp("session"),
        prompt("Make src/part_1.py faster. Never touch the vendor folder."),
        reply("I will start with load_settings."),
        call("TodoWrite", {"todos": [{"content": "Speed it up", "status": "in_progress"}]}),
        repeated_work(40),
        bash("make test", stdout="ok"),
        compaction_summary("We work on src/part_1.py."),
        repeated_work(40),
        compaction_summary("We work on src/part_2.py."),
        repeated_work(20),
    )


def look_up(transcript: str, words: str) -> str:
    with open(transcript, encoding="utf-8") as file:
        return "\n".join(line for line in file if words in line)


@pytest.fixture(scope="module")
def scored(path: str) -> TranscriptScores:
    return score(path, EvalConfig(budgets=(300, 1000), lookup=look_up))


def figures(scored: TranscriptScores, method: str, budget: int = 1000) -> list[dict[str, float]]:
    rows = [row for row in scored.rows if (row.method, row.budget) == (method, budget)]
    return [row.figures for row in rows if "frr" in row.figures]


def test_every_cut_is_scored_with_every_method(scored: TranscriptScores) -> None:
    assert scored.skipped == ""
    assert {row.arm for row in scored.rows} == {"pseudo", "real"}
    assert len(figures(scored, BRIEF)) == 4
    assert len(figures(scored, SUMMARY, 0)) == 2
    assert len(figures(scored, BOTH)) == 2
    assert len(figures(scored, CHAINED_BRIEF)) == 1


def test_brief_and_summary_together_recall_no_less_than_the_summary(
    scored: TranscriptScores,
) -> None:
    both, alone = figures(scored, BOTH), figures(scored, SUMMARY, 0)
    assert all(
        with_brief["frr"] >= without["frr"] for with_brief, without in zip(both, alone, strict=True)
    )
    assert all(row["tokens"] <= 1000 for row in both)


def test_names_missing_from_the_brief_are_looked_up_at_the_main_budget(
    scored: TranscriptScores,
) -> None:
    assert all(row["lost"] == 0.0 for row in figures(scored, BRIEF))
    assert all("lost" not in row for row in figures(scored, BRIEF, 300))


def test_violated_limits_and_checked_statements_are_counted(scored: TranscriptScores) -> None:
    report = build_report([scored], EvalConfig(budgets=(300, 1000)))
    faults = tables.count_faults(report)
    assert faults["overshoots"] == faults["over_cap"] == faults["not_repeatable"] == 0
    assert faults["stale_checked"] > 0


def test_a_quick_run_has_fewer_methods_and_metrics(path: str) -> None:
    quick = score(path, EvalConfig(budgets=(500,), quick=True))
    methods = {row.method for row in quick.rows}
    assert {"name dump", "actions tail", BRIEF, BOTH} <= methods
    assert "raw tail" not in methods
    assert all("constraints" not in row.figures for row in quick.rows)


def test_a_second_run_gives_the_same_figures(path: str, scored: TranscriptScores) -> None:
    def without_time(scores: TranscriptScores) -> list[Any]:
        return [
            (row.method, row.line, {k: v for k, v in row.figures.items() if k != "seconds"})
            for row in scores.rows
        ]

    second = score(path, EvalConfig(budgets=(300, 1000), lookup=look_up))
    assert without_time(second) == without_time(scored)


def test_a_skipped_transcript_has_a_reason(tmp_path: Path, path: str) -> None:
    empty = session_file(tmp_path, prompt("hello"), name="empty.jsonl")
    short = session_file(tmp_path, prompt("hello"), read("a.py"), name="short.jsonl")
    (tmp_path / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    skipped = {
        scores.path: scores.skipped
        for scores in score_all(
            [path, empty, short, str(tmp_path / "gone.jsonl")], EvalConfig(quick=True)
        )
    }
    assert skipped[path] == ""
    assert "no tool calls" in skipped[empty]
    assert "too little" in skipped[short]
    assert "No such file" in skipped[str(tmp_path / "gone.jsonl")]


def test_folding_from_cut_to_cut_equals_folding_from_the_start(path: str) -> None:
    folded = FoldedSession(path)
    folded.fold_until(10)
    fresh = new_state()
    advance(fresh, decode(read_lines(path, 60)))
    assert folded.fold_until(61).state == fresh


def test_chained_briefs_are_made_at_every_compaction(path: str) -> None:
    session = load_session(path)
    first, second = (compaction.line for compaction in session.compactions)
    briefs = build_chained_briefs(session, 1000)
    assert set(briefs) == {first, second}
    assert "vendor" in briefs[first]


def test_the_tables_show_every_method_once(scored: TranscriptScores) -> None:
    report = build_report([scored], EvalConfig(budgets=(300, 1000)))
    columns, rows = tables.recall_table(report)
    assert columns == ("cuts", "method", "@300", "@500", "@1000", "@2000", "own size")
    assert len({row[:2] for row in rows}) == len(rows)
    assert ("real", SUMMARY) in {row[:2] for row in rows}
    titles = [row[0] for row in tables.state_table(report)[1]]
    assert "precision" in titles
    assert "needed, from 1 compaction ago" in titles


def test_the_chart_is_one_page_without_external_resources(scored: TranscriptScores) -> None:
    report = build_report([scored], EvalConfig(budgets=(300, 1000)))
    text = render_page(report)
    # Each chart is drawn twice: for wide and for narrow pages.
    assert text.count("<svg") == 4
    curve_count = sum(len(build_curves(report, arm)) for arm in ("pseudo", "real"))
    assert len(re.findall('id="[a-z]+-(?:wide|narrow)-(?:ours|other)-', text)) == 2 * curve_count
    assert "src=" not in text
    assert re.findall('href="(?!#)', text) == []
    assert "<script" not in text


def test_misses_are_listed_with_kind_and_last_line(path: str) -> None:
    cuts = list(find_misses(load_session(path), 200))
    assert [cut.arm for cut in cuts] == ["pseudo", "real", "pseudo", "real"]
    assert {miss.kind for cut in cuts for miss in cut.missing} == {"files"}
    first = cuts[0]
    assert all(miss.last_line < first.line for miss in first.missing)
    assert first.recall == pytest.approx(
        1 - sum(miss.weight for miss in first.missing) / _total_weight(path, first.line)
    )


def _total_weight(path: str, line: int) -> float:
    from holdfast.eval.run import find_scorable_cuts

    cuts = find_scorable_cuts(load_session(path))
    references = next(references for cut, references in cuts if cut.line == line)
    return sum(references.weights.values())
