"""List the compactions of a session, or show everything about one of them.

holdfast compactions
holdfast compactions show 2

`show` prints how much of what was known the summary kept, the brief put back, differs from the
summary or is one lookup away; what forgetting cost, measured in the log; each of these things with
its transcript line, which `holdfast recall L12` opens; the host's summary and the messages that it
kept verbatim; and the brief, and whether it arrived.

What forgetting cost is counted in the next 40 actions (tool calls), up to the next compaction, and
beside it in as many actions right before: which action was the first edit; files read again that
had been read before and not changed since; commands repeated with the same output and no change of
a file in between; questions asked again. What the log cannot decide is not counted.

A compaction from before Holdfast was installed is shown as well: the log before it is read again,
and the brief is the one that Holdfast would have sent.
"""

from __future__ import annotations

import argparse
import os
from typing import Any

from holdfast import settings
from holdfast.cli.compaction_report import print_report, report_to_json
from holdfast.cli.console import (
    format_age,
    format_count,
    make_console,
    make_table,
    print_json,
    print_message,
    to_iso_time,
)
from holdfast.cli.options import add_session_argument, find_session
from holdfast.errors import InvalidInput, StoreUnavailable
from holdfast.services.compaction import history
from holdfast.services.compaction.report import CompactionReport, load_report
from holdfast.services.sessions import current_folder, open_store, refresh_session
from holdfast.store.protocols import SessionRow


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
    parser.add_argument(
        "--html", metavar="FILE", help="with show: write it as one HTML file to share"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    if args.what and args.number is None:
        raise InvalidInput("No compaction number was given", hint="holdfast compactions show 1")
    if args.html and not args.what:
        raise InvalidInput("--html needs `show N`", hint="holdfast compactions show 1 --html FILE")
    if args.last is not None and args.last < 1:
        raise InvalidInput("--last takes a positive number")
    last = args.last or settings.load(os.environ, current_folder()).keep_compactions
    with open_store(team=True) as (store, config):
        row = find_session(store, args)
        state = refresh_session(store, row).state
        if args.what:
            report = load_report(store, row, state, args.number, config)
            if args.html:
                _write_html(args.html, row, report)
            elif args.json:
                print_json(report_to_json(report))
            else:
                print_report(report)
            return 0
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


def _write_html(path: str, row: SessionRow, report: CompactionReport) -> None:
    try:
        from holdfast.server.web.compaction import render_file
    except ImportError as missing:
        raise StoreUnavailable(
            f"--html needs a package that is not installed ({missing.name})",
            hint="pip install 'holdfast[serve]'",
        ) from None
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(render_file(row, report))
    except OSError as problem:
        raise InvalidInput(f"{path} cannot be written ({problem.strerror})") from None
    print_message(f"{path} was written; secrets in known formats were removed.")


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
