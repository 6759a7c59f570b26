"""Quality: how well briefs arrived and what compactions cost, in one's own sessions over time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Annotated, Any

import msgspec
from litestar import get
from litestar.params import QueryParameter
from litestar.response import Template

from holdfast.reports.forgetting import Figure
from holdfast.server.dependencies import CallerDatabases, PageSettings
from holdfast.server.web import rendering
from holdfast.server.web.compaction import RECEIPTS, render_count
from holdfast.services import quality
from holdfast.services.quality import MeasuredCompaction, RecordedCompaction

PAGE_SIZE = 20
DAY_SECONDS = 86400
# Bars of the chart over time: a day each, or more days if there would be more bars than this.
MAX_BARS = 40
# The receipts of each colour in the chart of deliveries.
DELIVERY_SERIES = {
    "kept": ("arrived", ("whole", "twice")),
    "lost": ("did not arrive", ("cut", "never", "none")),
    "other": ("not known", ("pending", "unproven")),
}
LOSS_SERIES = {
    "kept": ("kept by the summary", "kept"),
    "restored": ("put back by the brief", "restored"),
    "differs": ("the summary says otherwise", "differs"),
    "lost": ("one lookup away", "to_recall"),
}
# What forgetting cost: the title of the sum, and that of the column.
COSTS = {
    "first_edit": ("Until the first edit", "First edit"),
    "files_read_again": ("Files read again", "Files again"),
    "commands_repeated": ("Commands repeated", "Commands again"),
    "questions_asked_again": ("Questions asked again", "Questions again"),
}
PageNumber = Annotated[int, QueryParameter(ge=1, le=quality.MAX_COMPACTIONS // PAGE_SIZE)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stat:
    """A figure in large type."""

    title: str
    number: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One compaction of the table."""

    path: str
    project: str
    title: str
    ordinal: int
    at: float | None
    receipt: str
    receipt_color: str
    parts: list[tuple[str, int]]
    """The counts of the bar, by colour; none if they are not decided."""
    lost: str
    costs: list[str]
    brief_tokens: int | None
    reasons: list[str]
    """Why figures are not decided, each with the columns that it is about."""


@get("/quality", sync_to_thread=True)
def show_quality(databases: CallerDatabases, page_settings: PageSettings) -> Template:
    """Show what the store knows. What is read from the logs is loaded after that."""
    with databases.connect() as db:
        records = quality.list_recorded(db.store, page_settings)
        hooks = quality.list_hook_runs(db.store)
    bars = to_delivery_bars(records)
    return rendering.render(
        "quality.html", section="quality", title="Quality", records=records, hooks=hooks,
        stats=to_stats(records), bars=bars, chart=encode_bars(bars), limit=quality.MAX_COMPACTIONS,
    )  # fmt: skip


@get("/quality/compactions", sync_to_thread=True)
def show_compactions(
    databases: CallerDatabases, page_settings: PageSettings, page: PageNumber = 1
) -> Template:
    """Show what compactions lost and cost, a page at a time, because their logs are read."""
    start = (page - 1) * PAGE_SIZE
    with databases.connect() as db:
        records = quality.list_recorded(db.store, page_settings)
        measured = quality.measure(db.store, records[start : start + PAGE_SIZE], page_settings)
    bars = to_loss_bars(measured)
    more = f"/quality/compactions?page={page + 1}" if len(records) > start + PAGE_SIZE else ""
    return rendering.render(
        "quality_compactions.html", section="quality", title="What was lost and put back",
        crumbs=[("Quality", "/quality")], rows=[to_row(one) for one in measured],
        totals=to_totals(measured), bars=bars, chart=encode_bars(bars),
        more=more, start=start, total=len(records),
        columns=[column for _, column in COSTS.values()],
    )  # fmt: skip


def to_stats(records: Sequence[RecordedCompaction]) -> list[Stat]:
    """Return the figures that the store has for all listed compactions."""
    totals = quality.sum_deliveries(records)
    briefs = [one.brief_tokens for one in records if one.brief_tokens is not None]
    context = [
        (one.tokens_before, one.tokens_after)
        for one in records
        if one.tokens_before and one.tokens_after
    ]
    seconds = [one.seconds for one in records if one.seconds]
    return [
        Stat(
            title="Briefs that arrived",
            number=f"{totals.whole} of {totals.expected}" if totals.expected else "–",
            note=_describe_deliveries(totals),
        ),
        Stat(
            title="Tokens per brief",
            number=rendering.format_count(median(briefs)) if briefs else "–",
            note=f"median of {len(briefs)}, {rendering.format_tokens(sum(briefs))} in all"
            if briefs
            else _explain_no_briefs(records),
        ),
        Stat(
            title="Context per compaction",
            number=_render_medians(context),
            note=f"tokens before and after, median of {len(context)}"
            if context
            else "the logs do not say it",
        ),
        Stat(
            title="Time per compaction",
            number=f"{median(seconds):.0f} s" if seconds else "–",
            note=f"median of {len(seconds)}" if seconds else "the logs do not say it",
        ),
    ]


def _describe_deliveries(totals: quality.DeliveryTotals) -> str:
    parts = [
        (totals.failed, "did not arrive"),
        (totals.unknown, "not known"),
        (totals.before_holdfast, "from before Holdfast"),
    ]
    return ", ".join(f"{count} {text}" for count, text in parts if count) or "none is missing"


def _render_medians(pairs: list[tuple[int, int]]) -> str:
    if not pairs:
        return "–"
    before, after = (median(values) for values in zip(*pairs, strict=True))
    return f"{rendering.format_tokens(round(before))} → {rendering.format_tokens(round(after))}"


def to_delivery_bars(records: Iterable[RecordedCompaction]) -> dict[str, Any]:
    """Return how briefs arrived over time, as bars of equal days, the oldest first."""
    dated = [
        (one.at, one.receipt) for one in records if one.at is not None and one.receipt is not None
    ]
    if not dated:
        return _make_bars([], {color: (text, []) for color, (text, _) in DELIVERY_SERIES.items()})
    days = [int(at // DAY_SECONDS) for at, _ in dated]
    first = min(days)
    size = -(-(max(days) - first + 1) // MAX_BARS)
    count = (max(days) - first) // size + 1
    labels = [_render_day((first + number * size) * DAY_SECONDS) for number in range(count)]
    series = {}
    for color, (text, receipts) in DELIVERY_SERIES.items():
        values = [0] * count
        for day, (_, receipt) in zip(days, dated, strict=True):
            values[(day - first) // size] += receipt in receipts
        series[color] = (text, values)
    return _make_bars(labels, series)


def to_loss_bars(measured: Iterable[MeasuredCompaction]) -> dict[str, Any]:
    """Return what became of what was known at each compaction, the oldest first."""
    decided = [one for one in measured if one.counts and one.counts.restored is not None]
    decided.reverse()
    labels = [_render_day(one.record.at) if one.record.at else "" for one in decided]
    series = {
        color: (text, [getattr(one.counts, name) for one in decided])
        for color, (text, name) in LOSS_SERIES.items()
    }
    return _make_bars(labels, series)


def _make_bars(labels: list[str], series: dict[str, tuple[str, list[int]]]) -> dict[str, Any]:
    return {
        "kind": "bars",
        "labels": labels,
        "series": [
            {"color": color, "name": name, "values": values}
            for color, (name, values) in series.items()
        ],
    }


def _render_day(at: float) -> str:
    return time.strftime("%d %b %y", time.gmtime(at))


def encode_bars(bars: dict[str, Any]) -> str:
    return msgspec.json.encode(bars).decode()


def to_totals(measured: Sequence[MeasuredCompaction]) -> list[Stat]:
    """Return the sums of these compactions, each over those for which it is decided."""
    counted = [one.counts for one in measured if one.counts]
    known = sum(counts.known for counts in counted)
    with_brief = [counts for counts in counted if counts.restored is not None]
    restored = sum(counts.restored or 0 for counts in with_brief)
    lost = sum(counts.known - counts.kept for counts in counted)
    of_all = f"{len(counted)} of {len(measured)} compactions"
    return [
        Stat(
            title="Lost by summaries",
            number=f"{lost} of {known}" if counted else "–",
            note=f"known things, {of_all}" if counted else _first_reason(measured),
        ),
        Stat(
            title="Put back by briefs",
            number=str(restored) if any(one.record.brief_tokens for one in measured) else "–",
            note=f"of {sum(counts.known - counts.kept for counts in with_brief)} lost"
            if any(one.record.brief_tokens for one in measured)
            else _explain_no_briefs([one.record for one in measured]),
        ),
        *(_sum_cost(measured, name, title) for name, (title, _) in COSTS.items()),
    ]


def _explain_no_briefs(records: Iterable[RecordedCompaction]) -> str:
    """Return why no brief can be counted: its text is gone, none was sent, or none could be."""
    reasons = {record.no_tokens_reason for record in records}
    known = (quality.BRIEF_NOT_KEPT, quality.NOT_SENT, quality.BEFORE_HOLDFAST)
    return next((reason for reason in known if reason in reasons), "")


def _first_reason(measured: Sequence[MeasuredCompaction]) -> str:
    return next((one.no_counts_reason for one in measured if one.no_counts_reason), "")


def _sum_cost(measured: Sequence[MeasuredCompaction], name: str, title: str) -> Stat:
    """Sum one figure; of the actions until the first edit, the median is told."""
    figures: list[Figure] = [getattr(one.cost.after, name) for one in measured if one.cost]
    counts = [figure.count for figure in figures if figure.count is not None]
    combine: Callable[[list[int]], float] = median if name == "first_edit" else sum
    if not counts:
        reasons = [one.no_cost_reason for one in measured if one.no_cost_reason]
        reasons += [figure.reason for figure in figures if figure.reason]
        return Stat(title=title, number="–", note=reasons[0] if reasons else "")
    at_least = "at least " if any(figure.is_minimum for figure in figures) else ""
    tokens = sum(figure.tokens for figure in figures)
    notes = [
        "actions, median" if name == "first_edit" else "",
        f"about {rendering.format_tokens(tokens)} tokens" if tokens else "",
        f"decided for {len(counts)} of {len(measured)}",
    ]
    number = f"{at_least}{rendering.format_count(combine(counts))}"
    return Stat(title=title, number=number, note=", ".join(filter(None, notes)))


def to_row(one: MeasuredCompaction) -> Row:
    """Return a compaction as the table shows it."""
    record, counts = one.record, one.counts
    parts = []
    if counts:
        values = [(color, getattr(counts, name)) for color, (_, name) in LOSS_SERIES.items()]
        parts = [(color, value) for color, value in values if value]
    return Row(
        path=f"/sessions/{record.session}/compactions/{record.ordinal}",
        project=os.path.basename(record.folder),
        title=record.title or record.session,
        ordinal=record.ordinal,
        at=record.at,
        receipt=record.receipt or "–",
        receipt_color=RECEIPTS.get(record.receipt or "", ("", ""))[0],
        parts=parts,
        lost=f"{counts.known - counts.kept} of {counts.known}" if counts else "–",
        costs=[render_count(getattr(one.cost.after, name)) if one.cost else "–" for name in COSTS],
        brief_tokens=record.brief_tokens,
        reasons=list_reasons(one),
    )


def list_reasons(one: MeasuredCompaction) -> list[str]:
    """Return why figures of a compaction are not decided, each reason once with its columns."""
    columns: dict[str, list[str]] = {}

    def add(column: str, reason: str) -> None:
        if reason:
            columns.setdefault(reason, []).append(column)

    add("Lost", one.no_counts_reason)
    for name, (_, column) in COSTS.items():
        add(column, getattr(one.cost.after, name).reason if one.cost else one.no_cost_reason)
    add("Brief", one.record.no_tokens_reason)
    return [f"{', '.join(names)}: {reason}" for reason, names in columns.items()]
