"""A whole run: rows, report, tables, chart and explanation."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from holdfast.eval import tables
from holdfast.eval.chart import build_curves, render_page
from holdfast.eval.config import EvalConfig
from holdfast.eval.methods import BOTH, BRIEF, SUMMARY, FoldedSession, strip_analysis
from holdfast.eval.misses import find_misses
from holdfast.eval.multi_compaction import CHAINED_BRIEF, build_chained_briefs
from holdfast.eval.report import build_report
from holdfast.eval.run import Row, TranscriptScores, score, score_all
from holdfast.eval.session import load_session
from holdfast.state.fold import advance, new_state
from holdfast.transcript.decoder import decode
from holdfast.transcript.reader import read_lines
from tests.unit.eval.transcript import (
    Line,
    bash,
    call,
    edited,
    read,
    replied,
    said,
    session_file,
    summarised,
)


def work(count: int) -> list[Line]:
    """The same dozen files over and over, so that much of it is needed again."""
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
        said("Make src/part_1.py faster. Never touch the vendor folder."),
        replied("I will start with load_settings."),
        call("TodoWrite", {"todos": [{"content": "Speed it up", "status": "in_progress"}]}),
        work(40),
        bash("make test", stdout="ok"),
        summarised("We work on src/part_1.py."),
        work(40),
        summarised("We work on src/part_2.py."),
        work(20),
    )


def look_up(transcript: str, words: str) -> str:
    with open(transcript, encoding="utf-8") as file:
        return "\n".join(line for line in file if words in line)


@pytest.fixture(scope="module")
def scored(path: str) -> TranscriptScores:
    return score(path, EvalConfig(budgets=(300, 1000), lookup=look_up))


def figures(scored: TranscriptScores, method: str, budget: int = 1000) -> list[dict[str, float]]:
    found = [one for one in scored.rows if (one.method, one.budget) == (method, budget)]
    return [one.figures for one in found if "frr" in one.figures]


def test_every_cut_is_scored_by_every_method(scored: TranscriptScores) -> None:
    assert scored.skipped == ""
    assert {row.arm for row in scored.rows} == {"pseudo", "real"}
    assert len(figures(scored, BRIEF)) == 4
    assert len(figures(scored, SUMMARY, 0)) == 2
    assert len(figures(scored, BOTH)) == 2
    assert len(figures(scored, CHAINED_BRIEF)) == 1


def test_a_brief_beside_a_summary_says_no_less_than_the_summary(scored: TranscriptScores) -> None:
    both, alone = figures(scored, BOTH), figures(scored, SUMMARY, 0)
    assert all(one["frr"] >= other["frr"] for one, other in zip(both, alone, strict=True))
    assert all(one["tokens"] <= 1000 for one in both)


def test_what_was_left_out_of_the_brief_was_looked_up(scored: TranscriptScores) -> None:
    found = figures(scored, BRIEF)
    assert all(one["lost"] == 0.0 for one in found)
    assert all("lost" not in one for one in figures(scored, BRIEF, 300))


def test_our_own_faults_are_counted(scored: TranscriptScores) -> None:
    result = build_report([scored], EvalConfig(budgets=(300, 1000)))
    counted = tables.count_faults(result)
    assert counted["overshoots"] == counted["over_cap"] == counted["not_repeatable"] == 0
    assert counted["stale_checked"] > 0


def test_a_quick_run_measures_less(path: str) -> None:
    quick = score(path, EvalConfig(budgets=(500,), quick=True))
    methods = {row.method for row in quick.rows}
    assert {"name dump", "actions tail", BRIEF, BOTH} <= methods
    assert "LexRank" not in methods
    assert all("constraints" not in row.figures for row in quick.rows)


def test_a_run_twice_gives_the_same_figures(path: str, scored: TranscriptScores) -> None:
    def without_time(one: TranscriptScores) -> list[Any]:
        return [
            (row.method, row.line, {k: v for k, v in row.figures.items() if k != "seconds"})
            for row in one.rows
        ]

    again = score(path, EvalConfig(budgets=(300, 1000), lookup=look_up))
    assert without_time(again) == without_time(scored)


def test_what_cannot_be_scored_says_why(tmp_path: Path, path: str) -> None:
    empty = session_file(tmp_path, said("hello"), name="empty.jsonl")
    short = session_file(tmp_path, said("hello"), read("a.py"), name="short.jsonl")
    (tmp_path / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    found = {
        each.path: each.skipped
        for each in score_all(
            [path, empty, short, str(tmp_path / "gone.jsonl")], EvalConfig(quick=True)
        )
    }
    assert found[path] == ""
    assert "no tool calls" in found[empty]
    assert "too little" in found[short]
    assert "No such file" in found[str(tmp_path / "gone.jsonl")]


def test_the_state_is_moved_on_from_cut_to_cut(path: str) -> None:
    folded = FoldedSession(path)
    folded.fold_until(10)
    fresh = new_state()
    advance(fresh, decode(read_lines(path, 60)))
    assert folded.fold_until(61).state == fresh


def test_a_summary_is_shown_without_its_analysis() -> None:
    assert strip_analysis("<analysis>x</analysis>y") == "y"
    assert strip_analysis("Analysis:\nx\nSummary:\ny") == "\ny"
    assert strip_analysis("only this") == "only this"


def test_a_brief_of_a_brief_knows_only_what_the_first_one_said(path: str) -> None:
    session = load_session(path)
    first, second = (each.line for each in session.compactions)
    found = build_chained_briefs(session, 1000)
    assert set(found) == {first, second}
    assert "vendor" in found[first]


def test_the_tables_show_every_method_once(scored: TranscriptScores) -> None:
    result = build_report([scored], EvalConfig(budgets=(300, 1000)))
    columns, rows = tables.recall_table(result)
    assert columns == ("cuts", "method", "@300", "@500", "@1000", "@2000", "own size")
    assert len({row[:2] for row in rows}) == len(rows)
    assert ("real", SUMMARY) in {row[:2] for row in rows}
    titles = [row[0] for row in tables.state_table(result)[1]]
    assert "precision" in titles
    assert "needed, from 1 compaction ago" in titles


def test_differences_are_against_others_of_the_same_size(scored: TranscriptScores) -> None:
    found = build_report([scored], EvalConfig(budgets=(300, 1000)))["differences"]
    pairs = {(one["arm"], one["method"], one["budget"], one["against"]) for one in found}
    assert ("pseudo", BRIEF, 1000, "name dump") in pairs
    assert ("real", BOTH, 300, SUMMARY) in pairs
    assert ("real", BRIEF, 1000, SUMMARY) in pairs
    assert all(one["against"] not in (BRIEF, BOTH) for one in found)


def test_one_comparison_is_primary_and_all_others_are_adjusted() -> None:
    def row(session: str, method: str, budget: int, recall: float) -> Row:
        return Row(
            session=session,
            repository="r",
            arm="pseudo",
            line=1,
            method=method,
            budget=budget,
            figures={"frr": recall},
        )

    rows = [
        row(str(n), method, budget, 0.5 + 0.01 * n * (method == BRIEF))
        for n in range(12)
        for method in (BRIEF, "name dump", "raw tail")
        for budget in (500, 1000)
        if (n, method) != (0, "raw tail")
    ]
    result = build_report(
        [TranscriptScores(path="x", rows=tuple(rows))], EvalConfig(budgets=(500, 1000))
    )
    found = {(one["against"], one["budget"]): one for one in result["differences"]}
    first = found.pop(("name dump", 1000))
    assert (first["primary"], first["p_holm"]) == (True, None)
    assert all(one["p_holm"] >= one["frr"]["p"] for one in found.values())
    assert found["raw tail", 1000]["frr"]["missing"] == 1
    tail = next(one for one in result["results"] if one["method"] == "raw tail")
    assert (tail["figures"]["frr"]["sessions"], tail["figures"]["frr"]["missing"]) == (11, 1)
    shown = tables.difference_table(result)[1]
    assert (shown[0][2], shown[0][-1]) == ("name dump", "primary")
    assert "11 (of 12)" in {row[4] for row in shown}


def test_the_chart_is_one_page_with_nothing_from_elsewhere(scored: TranscriptScores) -> None:
    result = build_report([scored], EvalConfig(budgets=(300, 1000)))
    text = render_page(result)
    # Each is drawn for wide and for narrow pages.
    assert text.count("<svg") == 4
    drawn = sum(len(build_curves(result, arm)) for arm in ("pseudo", "real"))
    assert len(re.findall('id="[a-z]+-(?:wide|narrow)-(?:ours|other)-', text)) == 2 * drawn
    assert "src=" not in text
    assert re.findall('href="(?!#)', text) == []
    assert "<script" not in text


def test_an_explanation_names_what_is_missing_and_where_it_was(path: str) -> None:
    cuts = list(find_misses(load_session(path), 200))
    assert [cut.arm for cut in cuts] == ["pseudo", "real", "pseudo", "real"]
    missing = [one for cut in cuts for one in cut.missing]
    assert {one.kind for one in missing} == {"files"}
    first = cuts[0]
    assert all(one.last_line < first.line for one in first.missing)
    assert first.recall == pytest.approx(
        1 - sum(one.weight for one in first.missing) / _whole(path, first.line)
    )


def _whole(path: str, line: int) -> float:
    from holdfast.eval.run import find_scorable_cuts

    found = [needed for cut, needed in find_scorable_cuts(load_session(path)) if cut.line == line]
    return sum(found[0].weights.values())
