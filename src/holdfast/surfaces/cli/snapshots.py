"""The saved states of a session, newest first."""

from __future__ import annotations

import argparse

from holdfast.surfaces.cli.output import ago, console, count, print_json, say, stamp, table
from holdfast.surfaces.cli.sessions import add_session_argument, chosen_session, open_store


def arguments(parser: argparse.ArgumentParser) -> None:
    add_session_argument(parser)
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> int:
    with open_store(team=True) as (store, _):
        row = chosen_session(store, args)
        found = store.snapshots(row["id"])
    if args.json:
        print_json(
            [
                {
                    "id": snapshot["id"],
                    "session": snapshot["session"],
                    "reason": snapshot["reason"],
                    "created": stamp(snapshot["created_at"]),
                    "line": snapshot["line"],
                    "context_tokens": snapshot["context"],
                    "items": snapshot["richness"],
                }
                for snapshot in found
            ]
        )
        return 0
    if not found:
        say(f"Session {row['id']} has no snapshot yet; the first is taken before a compaction.")
        return 0
    rows = [
        (
            snapshot["id"],
            ago(snapshot["created_at"]),
            snapshot["reason"],
            str(snapshot["line"]),
            count(snapshot["context"]),
            str(snapshot["richness"]),
        )
        for snapshot in found
    ]
    console().print(table(("id", "saved", "reason", "line", "context", "items"), rows))
    return 0
