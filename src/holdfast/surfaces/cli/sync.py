"""Send what is new on this machine to the team's store (HOLDFAST_DATABASE); fetch messages.

Hooks write to this machine only; what cannot be sent now waits, and nothing is sent twice.
"""

from __future__ import annotations

import argparse
import os
import time
from contextlib import closing

from holdfast.actions.sync import sync, waiting
from holdfast.errors import BadUsage
from holdfast.ledger.ledger import Ledger
from holdfast.ledger.opening import local_ledger
from holdfast.store import dsn
from holdfast.surfaces.cli.output import ago, count, print_json, say, stamp
from holdfast.surfaces.cli.sessions import open_store


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--status", action="store_true", help="only say what waits; send nothing")
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> int:
    url = dsn.team_url(os.environ)
    if not url:
        raise BadUsage(
            "no team is named",
            hint=f"set {dsn.VARIABLE}=postgresql://user@host/database",
        )
    target = dsn.shown(dsn.parts_of(url))
    with open_store() as (store, chosen):
        ledger = local_ledger(chosen.ledger)
        with closing(ledger.database):
            if args.status:
                found = waiting(store, ledger, target)
                if args.json:
                    told = {"sessions": found.sessions, "rows": found.rows}
                    print_json({"target": target, **told, "last": stamp(found.last_at)})
                    return 0
                say(
                    f"{target}: {count(found.sessions)} sessions and {count(found.rows)} rows "
                    f"wait; last sent {ago(found.last_at)}."
                )
                return 0
            from holdfast.store.postgres import PostgresStore

            with closing(PostgresStore.at(url)) as team:
                sent = sync(store, ledger, team, Ledger(team.database), target, time.time())
    if args.json:
        told = {"sessions": sent.sessions, "rows": sent.rows, "received": sent.received}
        print_json({"target": target, **told})
        return 0
    say(
        f"{target}: {count(sent.sessions)} sessions and {count(sent.rows)} rows were sent; "
        f"{count(sent.received)} messages came."
    )
    return 0
