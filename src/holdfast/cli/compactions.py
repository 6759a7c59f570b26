"""List the compactions of a session, or show everything about one of them.

holdfast compactions
holdfast compactions show 2

`show` prints what was saved before, the host's summary and the messages that it kept verbatim, the
brief, whether it arrived, and the loss report: what is in neither the summary nor the brief. Each
loss names its transcript line, which `holdfast recall L12` opens.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

from holdfast import settings
from holdfast.brief.items import Item
from holdfast.cli.console import (
    format_age,
    format_count,
    make_console,
    make_table,
    print_json,
    print_message,
    strip_control_chars,
    to_iso_time,
)
from holdfast.cli.options import add_session_argument, find_session
from holdfast.errors import InvalidInput
from holdfast.services.compaction import history
from holdfast.services.compaction.history import CompactionReport
from holdfast.services.compaction.host_summary import HostSummary
from holdfast.services.sessions import current_folder, open_store, refresh_session

# What to print for receipts other than "it arrived".
RECEIPT_TEXTS = {
    "": "none was sent",
    "pending": "no message since, so not known yet",
    "never": "it never arrived",
    "unproven": "not known: this host does not record it",
}
SHORTENED_TEXT = (
    "not kept: only the last `keep_compactions` compactions of a session keep their texts"
)
SEALED_TEXT = "encrypted: only the host's server can read it"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", nargs="?", choices=("show",), help="show everything about one")
    parser.add_argument(
        "number", nargs="?", type=int, metavar="N", help="its number, starting at 1"
    )
    parser.add_argument(
        "--last",
        type=int,
        metavar="N",
        help="list the last N (default: the setting keep_compactions)",
    )
    add_session_argument(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    if args.what and args.number is None:
        raise InvalidInput("No compaction number was given", hint="holdfast compactions show 1")
    if args.last is not None and args.last < 1:
        raise InvalidInput("--last takes a positive number")
    last = args.last or settings.load(os.environ, current_folder()).keep_compactions
    with open_store(team=True) as (store, _):
        row = find_session(store, args)
        state = refresh_session(store, row).state
        if args.what:
            return _print_report(CompactionReport(store, row, state, args.number), args.json)
        entries = history.list_compactions(store, row, state)
        shown = [history.add_snapshot_figures(store, entry) for entry in entries[-last:]]
    older = history.summarize_compactions(entries[:-last])
    if args.json:
        print_json(
            {"session": row["id"], "older": older, "compactions": [*map(_with_iso_time, shown)]}
        )
        return 0
    if not shown:
        print_message(f"Session {row['id']} has not been compacted.")
        return 0
    if older:
        triggers = ", ".join(f"{number} {name}" for name, number in older["triggers"].items())
        print_message(
            f"{older['count']} older ({triggers}); --last {len(entries)} lists them all.",
            style="dim",
        )
    columns = ("n", "when", "trigger", "before", "after", "calls", "took", "snapshot", "brief")
    make_console().print(make_table(columns, [_cells(entry) for entry in shown]))
    return 0


def _with_iso_time(entry: dict[str, Any]) -> dict[str, Any]:
    return {**entry, "at": to_iso_time(entry["at"])}


def _cells(entry: dict[str, Any]) -> tuple[str, ...]:
    def number(name: str) -> str:
        return format_count(entry[name]) if entry[name] is not None else "–"

    return (
        str(entry["ordinal"]),
        format_age(entry["at"]) if entry["at"] else "–",
        entry["trigger"] or "–",
        number("tokens_before"),
        number("tokens_after"),
        number("tool_calls"),
        f"{entry['seconds']:g} s" if entry["seconds"] is not None else "–",
        entry["snapshot"] or "–",
        entry["receipt"] or "none sent",
    )


def _print_report(report: CompactionReport, as_json: bool) -> int:
    losses = report.losses()
    if as_json:
        data = (
            _with_iso_time(report.entry)
            | _summary_to_json(report.summary)
            | {"brief": report.brief}
        )
        parts = losses._asdict().items() if losses else ()
        print_json(
            {**data, "losses": {name: [*map(_item_to_json, items)] for name, items in parts}}
        )
        return 0
    entry = report.entry
    receipt = RECEIPT_TEXTS.get(entry["receipt"] or "", f"it arrived: {entry['receipt']}")
    saved = (
        _count_by_kind([item for part in losses for item in part])
        if losses
        else "nothing was saved"
    )
    _print_section(
        f"Compaction {entry['ordinal']} ({entry['trigger'] or 'unknown trigger'})", saved
    )
    _print_summary(report.summary)
    shortened = entry["brief_id"] and not report.brief
    _print_section(f"The brief ({receipt})", report.brief or (SHORTENED_TEXT if shortened else "–"))
    if losses is None:
        print_message("There is no snapshot from before, so the losses are not known.")
        return 0
    lost = "\n".join(item.forms[0] for item in losses.to_recall)
    _print_section(
        "In neither the summary nor the brief",
        f"{_count_by_kind(losses.to_recall)}\n\n{lost}" if lost else "nothing",
    )
    print_message(
        f"The summary kept {len(losses.kept)}, the brief restored {len(losses.restored)}, "
        f"{len(losses.to_recall)} can be looked up with `holdfast recall`.",
        style="dim",
    )
    return 0


def _summary_to_json(summary: HostSummary) -> dict[str, Any]:
    return {
        "summary": summary.text,
        "summary_sealed": summary.is_sealed,
        "kept_words": summary.kept,
    }


def _print_summary(summary: HostSummary) -> None:
    title = "The host's summary" + (", with messages that it kept" if summary.is_mixed else "")
    _print_section(title, summary.text or (SEALED_TEXT if summary.is_sealed else "not known"))
    if summary.kept:
        _print_section("Messages that the host kept verbatim", summary.kept)


def _print_section(title: str, text: str) -> None:
    sys.stdout.write(strip_control_chars(f"## {title}\n\n{text.strip()}\n\n"))


def _count_by_kind(items: Sequence[Item]) -> str:
    kinds = Counter(item.kind for item in items)
    return ", ".join(f"{number} {kind}" for kind, number in kinds.most_common()) or "nothing"


def _item_to_json(item: Item) -> dict[str, Any]:
    return {"kind": item.kind, "line": item.line, "text": item.quote or item.forms[0]}
