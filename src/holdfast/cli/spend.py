"""Show what summaries of conversations have cost, by day, session and model.

Only a `SessionManager` with a model as its summarizer has costs. A call that was running when its
process was killed counts with the maximum that it could have cost.
"""

from __future__ import annotations

import argparse
import os

from holdfast import settings
from holdfast.cli.console import format_count, make_console, make_table, print_json, print_message
from holdfast.conversations.store import ConversationStore, resolve_path
from holdfast.errors import NotFound
from holdfast.store.dsn import find_team_url

MILLION = 1_000_000


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--store", metavar="FILE", help="the store file of a SessionManager")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    if args.store and not os.path.exists(resolve_path(args.store)):
        raise NotFound(
            f"There is no store at {args.store}", hint="give the file of SessionManager(store)"
        )
    if find_team_url(os.environ) and not args.store:
        print_message(
            "Conversations are not sent to the team: these are the costs of this machine.",
            style="dim",
        )
    path = args.store or settings.load(os.environ).database
    store = ConversationStore(path, busy_seconds=5.0, own_folder=not args.store)
    try:
        expenses = store.all("spend_table")
    finally:
        store.close()
    if args.json:
        print_json([{**row, "dollars": row.pop("micros") / MILLION} for row in expenses])
        return 0
    if not expenses:
        print_message("There are no costs.")
        return 0
    rows = [
        (
            row["day"],
            "/".join(part for part in (row["session"], row["feature"]) if part),
            row["model"],
            format_count(row["calls"]),
            f"{format_count(row['input_tokens'])} in, {format_count(row['output_tokens'])} out",
            f"${row['micros'] / MILLION:.4f}",
        )
        for row in expenses
    ]
    make_console().print(make_table(("day", "session", "model", "calls", "tokens", "cost"), rows))
    print_message(f"${sum(row['micros'] for row in expenses) / MILLION:.4f} in total.", style="dim")
    return 0
