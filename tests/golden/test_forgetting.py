"""What compactions of real sessions lost and cost: figures agree with each other and the log."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from holdfast import settings
from holdfast.reports.forgetting import WINDOW_ACTIONS, Figure, ForgettingCost, WindowFigures
from holdfast.reports.window import MAX_POINTS
from holdfast.services.compaction.recover import recover_session
from holdfast.services.compaction.report import CompactionReport, load_report
from holdfast.services.compaction.session_figures import load_context_history, load_window
from holdfast.store.sqlite import SQLiteStore
from holdfast.transcript.reader import read_lines
from tests.golden.corpus import CORPUS, each_session

SESSIONS = [path for path in sorted(CORPUS.glob("*.jsonl.gz")) if "agent-" not in path.name]
FIGURES = ("first_edit", "files_read_again", "commands_repeated", "questions_asked_again")


def check_figure(figure: Figure, lines: dict[int, str]) -> None:
    """A count is out of something and has its evidence; a missing one has a reason."""
    if figure.count is None:
        assert figure.reason
        assert figure.items == ()
        return
    assert 0 <= figure.count <= figure.out_of
    assert figure.out_of > 0
    for item in figure.items:
        name = item.text.rpartition("/")[2]
        if "/" in item.text and " " not in item.text:
            assert name in lines[item.line], item
            assert not item.earlier_line or name in lines[item.earlier_line], item


def check_window(window: WindowFigures, lines: dict[int, str]) -> None:
    assert 0 <= window.actions <= WINDOW_ACTIONS
    for name in FIGURES:
        figure = getattr(window, name)
        check_figure(figure, lines)
        if name != "first_edit" and figure.count is not None:
            assert len(figure.items) == figure.count
            assert all(item.earlier_line < window.first_line for item in figure.items)
            assert all(item.line >= window.first_line for item in figure.items)


def check_cost(cost: ForgettingCost, line: int, lines: dict[int, str]) -> None:
    check_window(cost.after, lines)
    assert cost.after.first_line >= line
    if cost.before is None:
        assert cost.no_before_reason
        return
    check_window(cost.before, lines)
    assert cost.before.actions == cost.after.actions
    assert cost.before.last_line < line


def check_losses(report: CompactionReport) -> None:
    """Every known item is in one group; lines before the compaction are cited."""
    if report.losses is None:
        assert report.no_losses_reason
        return
    assert sum(report.counts().values()) == len(report.items) > 0
    assert all(0 < item.line < report.entry["line"] for item in report.items)
    assert all(item.brief_says for item in report.items if item.group == "restored")
    assert not [item for item in report.items if item.group == "to_recall" and item.brief_says]


@pytest.mark.parametrize("path", each_session(SESSIONS))
def test_every_figure_of_a_compaction_can_be_checked_in_the_log(path: Path, tmp_path: Path) -> None:
    config = settings.load({"HOLDFAST_HOME": str(tmp_path)})
    store = SQLiteStore(str(tmp_path / "holdfast.db"))
    session = recover_session(store, str(path), 1_800_000_000.0).session
    row = store.session(session)
    assert row is not None
    lines = {number: raw.decode("utf-8", "replace") for number, raw in read_lines(str(path))}
    for number, compaction in enumerate(row["state"]["compactions"], 1):
        report = load_report(store, row, row["state"], number, config)
        assert report.cost is not None, report.no_cost_reason
        check_cost(report.cost, compaction["line"], lines)
        check_losses(report)
        assert report.entry["at"]
        assert report.entry["tokens_before"] > (report.entry["tokens_after"] or 0)
    window = load_window(row, row["state"], config)
    assert window is not None
    parts = {name: value for name, value in asdict(window).items() if isinstance(value, int)}
    known = sum(parts[name] for name in ("files", "user", "assistant", "calls", "summary"))
    counted = known + sum(window.tools.values()) + (window.system or 0) + (window.rest or 0)
    assert counted == window.tokens if window.rest is not None else counted > window.tokens
    history = load_context_history(store, row, row["state"], config, {})
    assert 0 < len(history.points) <= MAX_POINTS
    store.close()
