"""Print the report of one compaction for `holdfast compactions show`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from holdfast.cli.console import (
    format_count,
    make_console,
    make_table,
    print_message,
    strip_control_chars,
    to_iso_time,
)
from holdfast.reports.forgetting import Figure, ForgettingCost, Repetition, WindowFigures
from holdfast.services.compaction.host_summary import HostSummary
from holdfast.services.compaction.report import REBUILT, SENT, CompactionReport
from holdfast.state.text import one_line

# What to print for receipts other than "it arrived".
RECEIPT_TEXTS = {
    "": "none was sent",
    "pending": "no message since, so not known yet",
    "never": "it never arrived",
    "unproven": "not known: this host does not record it",
}
SHORTENED_TEXT = (
    "not kept: only the last `keep_compactions` compactions of a session keep their texts; "
    "this is rebuilt"
)
WOULD_BE_TEXT = "none was sent; Holdfast would have sent this"
SEALED_TEXT = "encrypted: only the host's server can read it"
# What the figures of a window are called, and the words for the things that they list.
FIGURES = {
    "first_edit": ("first edit", "first edit"),
    "files_read_again": ("files read again", "read again"),
    "commands_repeated": ("commands repeated", "repeated"),
    "questions_asked_again": ("questions asked again", "asked again"),
}
SHOWN_LABEL = "files shown by the host"
MAX_ITEM_CHARS = 300


def report_to_json(report: CompactionReport) -> dict[str, Any]:
    """Return a report as JSON; each item with what summary and brief say of it."""
    losses: dict[str, list[dict[str, Any]]] = {name: [] for name in report.counts()}
    for item in report.items:
        fields = asdict(item)
        losses[fields.pop("group")].append(fields)
    return {
        **report.entry,
        "at": to_iso_time(report.entry["at"]),
        "summary": report.summary.text,
        "summary_sealed": report.summary.is_sealed,
        "kept_words": report.summary.kept,
        "brief": report.brief,
        "brief_source": report.brief_source if report.brief else None,
        "counts": report.counts() if report.losses else None,
        "losses": losses if report.losses else {},
        "no_losses_reason": report.no_losses_reason or None,
        "forgetting": asdict(report.cost) if report.cost else None,
        "no_forgetting_reason": report.no_cost_reason or None,
    }


def print_report(report: CompactionReport) -> None:
    """Print a report: figures and lists first, the long texts of summary and brief last."""
    entry = report.entry
    title = f"Compaction {entry['ordinal']} ({entry['trigger'] or 'unknown trigger'})"
    _print_section(title, f"{_describe_entry(entry)}\n\n{_describe_counts(report)}")
    _print_cost(report)
    _print_groups(report)
    _print_summary(report.summary)
    _print_section(f"The brief ({_describe_receipt(report)})", report.brief or "–")
    if report.items:
        ref = f"{report.session}:L{report.items[-1].line}"
        print_message(f"Each line can be looked up with `holdfast recall {ref}`.", style="dim")


def _describe_entry(entry: dict[str, Any]) -> str:
    sizes = [entry["tokens_before"], entry["tokens_after"]]
    before, after = (format_count(size) if size else "unknown" for size in sizes)
    parts = [
        to_iso_time(entry["at"]) if entry["at"] else "",
        f"line L{entry['line']}" if entry["line"] else "",
        f"{before} → {after} tokens" if any(sizes) else "",
        f"{entry['tool_calls']} tool calls since the one before" if entry["tool_calls"] else "",
        f"took {entry['seconds']:g} s" if entry["seconds"] is not None else "",
    ]
    return " · ".join(filter(None, parts))


def _describe_receipt(report: CompactionReport) -> str:
    receipt = report.entry["receipt"] or ""
    text = RECEIPT_TEXTS.get(receipt, f"it arrived: {receipt}")
    if not report.brief or report.brief_source == SENT:
        return text
    return f"{text}; {SHORTENED_TEXT}" if report.brief_source == REBUILT else WOULD_BE_TEXT


def _describe_counts(report: CompactionReport) -> str:
    if report.losses is None:
        return f"What was lost cannot be told: {report.no_losses_reason}."
    counts = report.counts()
    kept = f"the summary kept {counts['kept']}"
    if report.no_losses_reason:
        # Messages that the host kept verbatim are all that can be compared.
        kept = f"the host kept {counts['kept']} word by word ({report.no_losses_reason})"
    put_back = "put back" if report.brief_source == SENT else "would have put back"
    return (
        f"Of {sum(counts.values())} things known before it, {kept}, the brief {put_back} "
        f"{counts['restored']}, {_count(counts['differs'], 'differs', 'differ')} from the summary, "
        f"{_count(counts['to_recall'], 'is', 'are')} one lookup away."
    )


def _count(number: int, singular: str, plural: str) -> str:
    return f"{number} {singular if number == 1 else plural}"


def _print_cost(report: CompactionReport) -> None:
    cost = report.cost
    if cost is None:
        _print_section("What forgetting cost", f"cannot be told: {report.no_cost_reason}")
        return
    _print_section("What forgetting cost", _describe_windows(cost))
    rows = [
        (label, *(_describe_figure(getattr(window, name), name) if window else "–"
                  for window in (cost.after, cost.before)))
        for name, (label, _) in FIGURES.items()
    ]  # fmt: skip
    shown = cost.files_shown_by_host
    rows.append(
        (SHOWN_LABEL, _describe_none(shown) if shown.count is None else str(shown.count), "")
    )
    make_console().print(make_table(("", "after", "before"), rows))
    _write("\n" + "".join(f"{line}\n" for line in _list_repetitions(cost)) + "\n")


def _describe_windows(cost: ForgettingCost) -> str:
    text = f"After it: {_describe_window(cost.after)}. "
    if cost.before:
        return f"{text}For comparison, right before it: {_describe_window(cost.before)}."
    return f"{text}There is nothing to compare with: {cost.no_before_reason}."


def _describe_window(window: WindowFigures) -> str:
    if not window.actions:
        return "no action"
    plural = "" if window.actions == 1 else "s"
    return f"{window.actions} action{plural}, L{window.first_line}–{window.last_line}"


def _describe_none(figure: Figure) -> str:
    return figure.reason if figure.is_decided else f"cannot be told: {figure.reason}"


def _describe_figure(figure: Figure, name: str) -> str:
    if figure.count is None:
        return _describe_none(figure)
    if name == "first_edit":
        return f"action {figure.count} of {figure.out_of}"
    text = f"{'at least ' * figure.is_minimum}{figure.count} of {figure.out_of}"
    notes = [
        f"about {format_count(figure.tokens)} tokens" if figure.tokens else "",
        f"{figure.changed_since} more had changed since" if figure.changed_since else "",
    ]
    note = ", ".join(filter(None, notes))
    return f"{text} ({note})" if note else text


def _list_repetitions(cost: ForgettingCost) -> Iterator[str]:
    figures = [(word, getattr(cost.after, name)) for name, (_, word) in FIGURES.items()]
    for word, figure in (*figures, ("shown", cost.files_shown_by_host)):
        for item in figure.items:
            yield f"{word:<11} L{item.line}  {item.text}{_describe_earlier(item)}"


def _describe_earlier(item: Repetition) -> str:
    notes = [
        f"before: L{item.earlier_line}" if item.earlier_line else "",
        "edited later, and the client may demand a read first" if item.before_edit else "",
    ]
    note = "; ".join(filter(None, notes))
    return f" ({note})" if note else ""


def _print_groups(report: CompactionReport) -> None:
    losses = report.losses
    if losses is None:
        return
    put_back = "Put back by the brief" if report.brief_source == SENT else "Would be put back"
    for title, items in (
        ("Differs from the summary", losses.differs),
        ("In neither the summary nor the brief, one lookup away", losses.to_recall),
        (put_back, losses.restored),
        ("Kept by the summary", losses.kept),
    ):
        lines = [one_line(item.forms[0], MAX_ITEM_CHARS) for item in items]
        _print_section(f"{title}: {len(items)}", "\n".join(lines) or "nothing")


def _print_summary(summary: HostSummary) -> None:
    title = "The host's summary" + (", with messages that it kept" if summary.is_mixed else "")
    _print_section(title, summary.text or (SEALED_TEXT if summary.is_sealed else "not known"))
    if summary.kept:
        _print_section("Messages that the host kept verbatim", summary.kept)


def _print_section(title: str, text: str) -> None:
    _write(f"## {title}\n\n{text.strip()}\n\n")


def _write(text: str) -> None:
    sys.stdout.write(strip_control_chars(text))
    sys.stdout.flush()
