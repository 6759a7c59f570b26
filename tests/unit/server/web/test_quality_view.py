"""The view functions of the page about quality: no figure without something to count."""

from __future__ import annotations

import re
from typing import Any

from holdfast.reports.forgetting import Figure, ForgettingCost, WindowFigures
from holdfast.server.web import quality as page
from holdfast.server.web.rendering import make_environment
from holdfast.services.quality import (
    BEFORE_HOLDFAST,
    BRIEF_NOT_KEPT,
    LossCounts,
    MeasuredCompaction,
    RecordedCompaction,
)

NOTHING = Figure(count=None, reason="no action followed")
DAY = 86400.0


def record(**fields: Any) -> RecordedCompaction:
    values: dict[str, Any] = {
        "session": "s1", "folder": "/srv/app", "host": "claude-code", "title": "Go", "ordinal": 1,
        "at": 100 * DAY, "line": 5, "receipt": "whole", "brief_tokens": 700, "no_tokens_reason": "",
        "tokens_before": 100_000, "tokens_after": 9_000, "seconds": 20.0, "snapshot": None,
    }  # fmt: skip
    return RecordedCompaction(**values | fields)


OLD = {"receipt": None, "brief_tokens": None, "no_tokens_reason": BEFORE_HOLDFAST}


def cost(**figures: Figure) -> ForgettingCost:
    names = ("first_edit", "files_read_again", "commands_repeated", "questions_asked_again")
    after = WindowFigures(
        actions=4, first_line=6, last_line=9,
        **dict.fromkeys(names, NOTHING) | figures,
    )  # fmt: skip
    return ForgettingCost(
        after=after, before=None, no_before_reason="", files_shown_by_host=NOTHING
    )


def measured(counts: LossCounts | None, reason: str = "", **fields: Any) -> MeasuredCompaction:
    given = fields.pop("cost", None)
    return MeasuredCompaction(
        record=record(**fields), counts=counts, no_counts_reason=reason,
        cost=given, no_cost_reason="" if given else "the log is gone",
    )  # fmt: skip


COUNTS = LossCounts(known=30, kept=5, restored=20, differs=2, to_recall=3)


def test_figures_of_nothing_are_dashes_with_a_reason() -> None:
    numbers = {
        stat.title: (stat.number, stat.note)
        for stat in (
            *page.to_stats([record(**OLD, tokens_before=None, seconds=None)]),
            *page.to_totals([measured(None, "the host's summary is not known", **OLD)]),
        )
    }
    assert all(number == "–" and note for number, note in numbers.values()), numbers
    assert numbers["Lost by summaries"][1] == "the host's summary is not known"
    assert numbers["Files read again"][1] == "the log is gone"
    assert numbers["Tokens per brief"][1] == BEFORE_HOLDFAST
    gone = {"brief_tokens": None, "no_tokens_reason": BRIEF_NOT_KEPT}
    put_back = page.to_totals([measured(None, BRIEF_NOT_KEPT, **gone), measured(None, **OLD)])[1]
    assert (put_back.number, put_back.note) == ("–", BRIEF_NOT_KEPT)


def test_sums_say_over_how_many_compactions_they_are_decided() -> None:
    again = cost(files_read_again=Figure(count=2, out_of=3, tokens=1200, is_minimum=True))
    totals = {
        stat.title: stat
        for stat in page.to_totals([measured(COUNTS, cost=again), measured(None, "gone")])
    }
    assert totals["Lost by summaries"].number == "25 of 30"
    assert "1 of 2" in totals["Lost by summaries"].note
    assert totals["Put back by briefs"].number == "20"
    assert totals["Files read again"].number == "at least 2"
    assert "decided for 1 of 2" in totals["Files read again"].note
    assert totals["Commands repeated"].number == "–"


def test_a_row_names_each_reason_once_with_its_columns() -> None:
    gone = LossCounts(known=30, kept=5, restored=None, differs=2, to_recall=None)
    row = page.to_row(measured(gone, BRIEF_NOT_KEPT, cost=cost(), brief_tokens=None))
    assert row.lost == "25 of 30"
    assert row.parts == [("kept", 5), ("differs", 2)]
    assert row.costs == ["–"] * 4
    assert row.reasons == [
        f"Lost: {BRIEF_NOT_KEPT}",
        "First edit, Files again, Commands again, Questions again: no action followed",
    ]
    assert page.to_row(measured(None, "not known", **OLD)).receipt == "–"


def test_deliveries_are_counted_by_days_and_old_compactions_are_left_out() -> None:
    bars = page.to_delivery_bars(
        [
            record(at=100 * DAY), record(at=100 * DAY + 60, receipt="never"),
            record(at=102 * DAY, receipt="unproven"), record(at=50 * DAY, receipt=None),
        ]
    )  # fmt: skip
    values = {series["color"]: series["values"] for series in bars["series"]}
    assert values == {"kept": [1, 0, 0], "lost": [1, 0, 0], "other": [0, 0, 1]}
    year = page.to_delivery_bars([record(at=1 * DAY), record(at=366 * DAY)])
    assert len(year["labels"]) <= page.MAX_BARS
    assert sum(sum(series["values"]) for series in year["series"]) == 2
    assert page.to_delivery_bars([])["labels"] == []


def test_the_bars_of_losses_leave_out_what_is_not_decided() -> None:
    bars = page.to_loss_bars([measured(COUNTS), measured(None, "gone")])
    assert [series["values"] for series in bars["series"]] == [[5], [20], [2], [3]]


def test_without_the_npm_package_the_figures_are_in_a_table() -> None:
    environment = make_environment()
    environment.globals["has_vendor_file"] = lambda name: False
    chart = environment.get_template("bars.html").module.chart  # type: ignore[attr-defined]
    bars = page.to_loss_bars([measured(COUNTS)])
    html = str(chart("losses", bars, page.encode_bars(bars), "Losses"))
    assert "a package from npm" in html
    assert '<details class="small" open>' in html
    assert re.findall(r'<td class="n">(\d+)</td>', html) == ["5", "20", "2", "3"]
    assert "data-chart" not in html
