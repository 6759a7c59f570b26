"""Delete old data: snapshots, expired messages, agents that are no longer active.

Each session keeps its newest and its most complete snapshot, those of its compactions, and the last
60 handoffs of its sub-agents. Old snapshots that are kept are compressed; reading them works as
before. Contexts that were saved over HTTP are kept if a restore still uses them. With --team, the
texts of sessions that are older are deleted too: `recall --team` no longer finds them.
"""

from __future__ import annotations

import argparse
import os
import time
from contextlib import closing
from dataclasses import asdict

from holdfast.cli.console import format_count, print_json, print_message
from holdfast.errors import InvalidInput
from holdfast.ledger.connect import open_ledger
from holdfast.services.sessions import open_store
from holdfast.services.team.retention import DAY_SECONDS, ExpiredRows, count_expired, remove_expired
from holdfast.store.dsn import find_team_url

DEFAULT_DAYS = 30


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="only show what would be deleted")
    parser.add_argument("--yes", action="store_true", help="delete it")
    parser.add_argument(
        "--days",
        type=int,
        default=DEFAULT_DAYS,
        metavar="N",
        help=f"delete what is older than N days ({DEFAULT_DAYS})",
    )
    parser.add_argument(
        "--team", action="store_true", help="in the team's database instead of this machine's store"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    if args.days < 1:
        raise InvalidInput("--days takes a positive number")
    if args.team and not find_team_url(os.environ):
        raise InvalidInput("No team database is configured", hint="set HOLDFAST_DATABASE")
    before = time.time() - args.days * DAY_SECONDS
    with open_store(team=args.team) as (store, config):
        ledger = open_ledger(config.ledger, os.environ if args.team else {})
        with closing(ledger.database):
            done = args.yes and not args.dry_run
            expired = (remove_expired if done else count_expired)(store, ledger, before)
    if args.json:
        print_json({**asdict(expired), "done": done})
    else:
        _print_result(expired, args.days, done=done)
    return 0 if done or args.dry_run or not expired.total else 1


def _print_result(expired: ExpiredRows, days: int, *, done: bool) -> None:
    counts = ", ".join(f"{format_count(number)} {name}" for name, number in expired.deleted.items())
    print_message(
        f"Older than {days} days: {counts}; {format_count(expired.packed)} snapshots to compress."
    )
    if not expired.total:
        print_message("There is nothing to delete.")
    elif done:
        print_message(f"Deleted; {format_count(expired.bytes)} bytes can be reused.")
    else:
        print_message(f"Nothing was deleted. --yes frees {format_count(expired.bytes)} bytes.")
