"""Take away what nobody will ask for again: old snapshots, expired messages, agents long gone.

Of each session its newest and its richest snapshot stay, those that compactions were made with, and
the last 60 handoffs of its sub-agents. Old snapshots that stay are packed: they are read as before.
Of what callers saved over HTTP (contexts) stays besides whatever a restore still tells.
With --team also the texts of sessions that had no new one since: nobody finds them there any more.
"""

from __future__ import annotations

import argparse
import os
import time
from contextlib import closing
from dataclasses import asdict

from holdfast.actions.retention import DAY, Leftovers, clear, leftovers
from holdfast.errors import BadUsage
from holdfast.ledger.opening import chosen_ledger
from holdfast.store.dsn import team_url
from holdfast.surfaces.cli.output import count, print_json, say
from holdfast.surfaces.cli.sessions import open_store

DAYS = 30


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="only say what would go")
    parser.add_argument("--yes", action="store_true", help="do it")
    parser.add_argument(
        "--days", type=int, default=DAYS, metavar="N", help=f"what is older than this ({DAYS})"
    )
    parser.add_argument("--team", action="store_true", help="in the team's store, not in this one")
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> int:
    if args.days < 1:
        raise BadUsage("--days is a positive number")
    if args.team and not team_url(os.environ):
        raise BadUsage("no team is named", hint="set HOLDFAST_DATABASE")
    before = time.time() - args.days * DAY
    with open_store(team=args.team) as (store, chosen):
        ledger = chosen_ledger(chosen.ledger, os.environ if args.team else {})
        with closing(ledger.database):
            done = args.yes and not args.dry_run
            found = (clear if done else leftovers)(store, ledger, before)
    if args.json:
        print_json({**asdict(found), "done": done})
    else:
        _say(found, args.days, done=done)
    return 0 if done or args.dry_run or not found.total else 1


def _say(found: Leftovers, days: int, *, done: bool) -> None:
    told = ", ".join(f"{count(number)} {name}" for name, number in found.gone.items())
    say(f"Older than {days} days: {told}; {count(found.packed)} snapshots to pack.")
    if not found.total:
        say("There is nothing to take away.")
    elif done:
        say(f"That is done; {count(found.bytes)} bytes are free for what comes.")
    else:
        say(f"Nothing was changed; --yes takes them away and frees {count(found.bytes)} bytes.")
