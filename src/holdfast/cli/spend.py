"""Show what summaries of conversations have cost, by day, session and model.

Only a `SessionManager` with a model as its summarizer has costs. A call that was running when its
process was killed counts with the maximum that it could have cost.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import asdict

from holdfast import settings
from holdfast.cli.console import format_count, make_console, make_table, print_json, print_message
from holdfast.conversations.cost_limit import MICROS_PER_DOLLAR
from holdfast.conversations.store import resolve_path
from holdfast.errors import NotFound
from holdfast.services.conversations import list_expenses, open_conversations
from holdfast.store.dsn import find_team_url


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
    with open_conversations(path, own_folder=not args.store) as store:
        expenses = list_expenses(store)
    if args.json:
        print_json([asdict(expense) for expense in expenses])
        return 0
    if not expenses:
        print_message("There are no costs.")
        return 0
    rows = [
        (
            expense.day,
            "/".join(part for part in (expense.session, expense.feature) if part),
            expense.model,
            format_count(expense.calls),
            f"{format_count(expense.input_tokens)} in, {format_count(expense.output_tokens)} out",
            f"${expense.dollars:.4f}",
        )
        for expense in expenses
    ]
    make_console().print(make_table(("day", "session", "model", "calls", "tokens", "cost"), rows))
    print_message(
        f"${sum(expense.micros for expense in expenses) / MICROS_PER_DOLLAR:.4f} in total.",
        style="dim",
    )
    return 0
