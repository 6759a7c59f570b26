"""Send what is new on this machine to the team's store (HOLDFAST_DATABASE): sessions, the ledger,
and the texts that `holdfast recall --team` finds; fetch messages.

Hooks write to this machine only; what cannot be sent now waits, and nothing is sent twice.
"""

from __future__ import annotations

import argparse
import os
import time
from contextlib import closing
from dataclasses import asdict
from math import inf

from holdfast.actions.indexing import catch_up
from holdfast.actions.sync import Sent, Waiting, sync, waiting
from holdfast.errors import BadUsage
from holdfast.index.database import Index
from holdfast.ledger.ledger import Ledger
from holdfast.ledger.opening import local_ledger
from holdfast.store import dsn
from holdfast.surfaces.cli.output import ago, count, print_json, say, stamp
from holdfast.surfaces.cli.sessions import open_store

UNTIL_DONE = inf
MOST_TOLD = 10


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
    with open_store() as (store, chosen), Index(chosen.index) as index:
        ledger = local_ledger(chosen.ledger)
        with closing(ledger.database):
            if args.status:
                return _tell_waiting(waiting(store, ledger, target, index), target, args.json)
            catch_up(index, store.transcripts(None), time.time(), UNTIL_DONE)
            from holdfast.store.postgres import PostgresStore

            with closing(PostgresStore.at(url)) as team:
                shared = Ledger(team.database)
                sent = sync(store, ledger, team, shared, target, time.time(), index=index)
    return _tell_sent(sent, target, args.json)


def _tell_waiting(found: Waiting, target: str, as_json: bool) -> int:
    if as_json:
        told = {"sessions": found.sessions, "rows": found.rows, "texts": found.texts}
        print_json({"target": target, **told, "last": stamp(found.last_at)})
        return 0
    say(
        f"{target}: {count(found.sessions)} sessions, {count(found.rows)} rows and the texts of "
        f"{count(found.texts)} sessions wait; last sent {ago(found.last_at)}."
    )
    return 0


def _tell_sent(sent: Sent, target: str, as_json: bool) -> int:
    if as_json:
        print_json({"target": target, **asdict(sent)})
        return 0
    say(
        f"{target}: {count(sent.sessions)} sessions, {count(sent.rows)} rows and "
        f"{count(sent.texts)} texts were sent; {count(sent.received)} messages came."
    )
    for told in sent.skipped[:MOST_TOLD]:
        say(f"Not sent, and tried again the next time: {told}", style="yellow")
    if len(sent.skipped) > MOST_TOLD:
        say(f"and {count(len(sent.skipped) - MOST_TOLD)} more", style="yellow")
    return 0
