"""The compactions of a session, or everything about one of them.

holdfast compactions
holdfast compactions show 2

The second tells what was known before, the host's summary and the words that it kept beside it,
the brief, whether it arrived, and the loss report: what of the state was in neither. Each loss
names its transcript line, which `holdfast recall L12` opens.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

from holdfast import settings
from holdfast.actions import compaction_log
from holdfast.actions.compaction_log import Report
from holdfast.actions.host_summary import HostSummary
from holdfast.brief.item import Item
from holdfast.errors import BadUsage
from holdfast.surfaces.cli.output import (
    ago,
    console,
    count,
    harmless,
    print_json,
    say,
    stamp,
    table,
)
from holdfast.surfaces.cli.sessions import (
    add_session_argument,
    chosen_session,
    here,
    open_store,
    refresh,
)

# What stands in place of "it arrived" where that is not what is known.
ARRIVED = {
    "": "none was sent",
    "pending": "nothing has been said since",
    "never": "it never arrived",
    "unproven": "whether it arrived is unproven: this host does not write that down",
}
SHORTENED = (
    "kept in short: of a session's last compactions `keep_compactions` are kept with their texts"
)

SEALED = "sealed: it was made on the host's server, which alone can read it"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", nargs="?", choices=("show",), help="all about one of them")
    parser.add_argument("number", nargs="?", type=int, metavar="N", help="which, counted from 1")
    parser.add_argument(
        "--last",
        type=int,
        metavar="N",
        help="list so many (default: the setting keep_compactions)",
    )
    add_session_argument(parser)
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> int:
    if args.what and args.number is None:
        raise BadUsage("which compaction?", hint="holdfast compactions show 1")
    if args.last is not None and args.last < 1:
        raise BadUsage("--last is a positive number")
    last = args.last or settings.load(os.environ, here()).keep_compactions
    with open_store(team=True) as (store, _):
        row = chosen_session(store, args)
        state = refresh(store, row).state
        if args.what:
            return _show(Report(store, row, state, args.number), args.json)
        found = compaction_log.entries(store, row, state)
        shown = [compaction_log.with_snapshot(store, entry) for entry in found[-last:]]
    older = compaction_log.summarised(found[:-last])
    if args.json:
        print_json({"session": row["id"], "older": older, "compactions": [*map(_stamped, shown)]})
        return 0
    if not shown:
        say(f"Session {row['id']} has not been compacted.")
        return 0
    if older:
        told = ", ".join(f"{number} {name}" for name, number in older["triggers"].items())
        say(f"{older['count']} older ({told}); --last {len(found)} lists them all.", style="dim")
    columns = ("n", "when", "trigger", "before", "after", "calls", "took", "snapshot", "brief")
    console().print(table(columns, [_cells(entry) for entry in shown]))
    return 0


def _stamped(entry: dict[str, Any]) -> dict[str, Any]:
    return {**entry, "at": stamp(entry["at"])}


def _cells(entry: dict[str, Any]) -> tuple[str, ...]:
    def number(name: str) -> str:
        return count(entry[name]) if entry[name] is not None else "–"

    return (
        str(entry["ordinal"]),
        ago(entry["at"]) if entry["at"] else "–",
        entry["trigger"] or "–",
        number("tokens_before"),
        number("tokens_after"),
        number("tool_calls"),
        f"{entry['seconds']:g} s" if entry["seconds"] is not None else "–",
        entry["snapshot"] or "–",
        entry["receipt"] or "none sent",
    )


def _show(report: Report, as_json: bool) -> int:
    found = report.losses()
    if as_json:
        told = _stamped(report.entry) | _summary(report.summary) | {"brief": report.brief}
        parts = found._asdict().items() if found else ()
        print_json({**told, "losses": {name: [*map(_described, items)] for name, items in parts}})
        return 0
    entry = report.entry
    receipt = ARRIVED.get(entry["receipt"] or "", f"it arrived: {entry['receipt']}")
    known = _counted([item for part in found for item in part]) if found else "nothing was saved"
    _section(f"Compaction {entry['ordinal']} ({entry['trigger'] or 'unknown trigger'})", known)
    _show_summary(report.summary)
    shortened = entry["brief_id"] and not report.brief
    _section(f"The brief ({receipt})", report.brief or (SHORTENED if shortened else "–"))
    if found is None:
        say("Without a snapshot from before nothing can be said about losses.")
        return 0
    lost = "\n".join(item.forms[0] for item in found.to_recall)
    _section("In neither", f"{_counted(found.to_recall)}\n\n{lost}" if lost else "nothing")
    say(
        f"The host kept {len(found.kept)}, the brief put back {len(found.restored)}, "
        f"{len(found.to_recall)} are one lookup away.",
        style="dim",
    )
    return 0


def _summary(found: HostSummary) -> dict[str, Any]:
    return {"summary": found.text, "summary_sealed": found.is_sealed, "kept_words": found.kept}


def _show_summary(found: HostSummary) -> None:
    title = "The host's summary" + (", with the words that it kept" if found.is_mixed else "")
    _section(title, found.text or (SEALED if found.is_sealed else "not known"))
    if found.kept:
        _section("What people said, which the host kept word for word", found.kept)


def _section(title: str, text: str) -> None:
    sys.stdout.write(harmless(f"## {title}\n\n{text.strip()}\n\n"))


def _counted(items: Sequence[Item]) -> str:
    kinds = Counter(item.kind for item in items)
    return ", ".join(f"{number} {kind}" for kind, number in kinds.most_common()) or "nothing"


def _described(item: Item) -> dict[str, Any]:
    return {"kind": item.kind, "line": item.line, "text": item.quote or item.forms[0]}
