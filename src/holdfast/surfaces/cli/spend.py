"""What summaries of conversations have cost: by day, session and model.

Only `SessionManager` with a model as its summarizer spends anything. A call that was under way when
its process was killed counts with the most it could have cost.
"""

from __future__ import annotations

import argparse
import os

from holdfast import settings
from holdfast.errors import NoSuchRecord
from holdfast.store.conversations import Conversations, local_path
from holdfast.store.dsn import team_url
from holdfast.surfaces.cli.output import console, count, print_json, say, table

MILLION = 1_000_000


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--store", metavar="FILE", help="a SessionManager's own store")
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> int:
    if args.store and not os.path.exists(local_path(args.store)):
        raise NoSuchRecord(
            f"a store at {args.store}", hint="give the file of SessionManager(store)"
        )
    if team_url(os.environ) and not args.store:
        say("Conversations stay on their machine: this is what was spent here.", style="dim")
    path = args.store or settings.load(os.environ).database
    store = Conversations(path, busy_seconds=5.0, own_folder=not args.store)
    try:
        found = store.all("spend_table")
    finally:
        store.close()
    if args.json:
        print_json([{**row, "dollars": row.pop("micros") / MILLION} for row in found])
        return 0
    if not found:
        say("Nothing was spent.")
        return 0
    rows = [
        (
            row["day"],
            "/".join(part for part in (row["session"], row["feature"]) if part),
            row["model"],
            count(row["calls"]),
            f"{count(row['input_tokens'])} in, {count(row['output_tokens'])} out",
            f"${row['micros'] / MILLION:.4f}",
        )
        for row in found
    ]
    console().print(table(("day", "session", "model", "calls", "tokens", "cost"), rows))
    say(f"${sum(row['micros'] for row in found) / MILLION:.4f} in all.", style="dim")
    return 0
