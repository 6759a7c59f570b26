"""List the saved states of a session, newest first."""

from __future__ import annotations

import argparse
import sys

from holdfast.brief.render import build_brief
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
from holdfast.hosts import claude_code
from holdfast.services.sessions import open_store


def arguments(parser: argparse.ArgumentParser) -> None:
    add_session_argument(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    with open_store(team=True) as (store, _):
        row = find_session(store, args)
        snapshots = store.snapshots(row["id"])
    if args.json:
        print_json(
            [
                {
                    "id": snapshot["id"],
                    "session": snapshot["session"],
                    "reason": snapshot["reason"],
                    "created": to_iso_time(snapshot["created_at"]),
                    "line": snapshot["line"],
                    "context_tokens": snapshot["context"],
                    "items": snapshot["richness"],
                }
                for snapshot in snapshots
            ]
        )
        return 0
    if not snapshots:
        print_message(
            f"Session {row['id']} has no snapshot yet; the first one is taken before a compaction."
        )
        return 0
    rows = [
        (
            snapshot["id"],
            format_age(snapshot["created_at"]),
            snapshot["reason"],
            str(snapshot["line"]),
            format_count(snapshot["context"]),
            str(snapshot["richness"]),
        )
        for snapshot in snapshots
    ]
    columns = ("id", "saved", "reason", "line", "context", "items")
    make_console().print(make_table(columns, rows))
    return 0


class Show:
    """Show one saved state: as the brief that it would give, or completely with --json.

    holdfast snapshot show 1a2b3c4d
    """

    @staticmethod
    def arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("what", choices=("show",), help="print it")
        parser.add_argument("id", metavar="ID", help="id from `holdfast snapshots`")
        parser.add_argument("--json", action="store_true", help="print the whole state as JSON")

    @staticmethod
    def run(args: argparse.Namespace) -> int:
        with open_store(team=True) as (store, config):
            snapshot = store.snapshot(args.id)
        if args.json:
            print_json({**snapshot, "created": to_iso_time(snapshot["created_at"])})
            return 0
        brief = build_brief(
            snapshot["state"],
            tokens=config.brief_tokens,
            characters=claude_code.MAX_BRIEF_UNITS,
            session=snapshot["session"],
        )
        print_message(
            f"Snapshot {snapshot['id']} of session {snapshot['session']}, "
            f"{format_age(snapshot['created_at'])} ({snapshot['reason']}), "
            f"up to line {snapshot['line']}",
            style="dim",
        )
        sys.stdout.write(brief.text)
        return 0
