"""Push new sessions, ledger rows and texts to the team's database, and fetch messages.

HOLDFAST_DATABASE names the database. `holdfast recall --team` searches the texts. Hooks write to
this machine only; what cannot be sent now is sent next time, and nothing is sent twice.
"""

from __future__ import annotations

import argparse
import os
import time
from contextlib import closing
from dataclasses import asdict
from math import inf

from holdfast.cli.console import format_age, format_count, print_json, print_message, to_iso_time
from holdfast.errors import InvalidInput
from holdfast.ledger.connect import open_local_ledger
from holdfast.ledger.repository import Ledger
from holdfast.search.index_db import SearchIndex
from holdfast.services.recall.index_refresh import refresh_index
from holdfast.services.sessions import open_store
from holdfast.services.team.sync import SyncBacklog, SyncResult, measure_backlog, sync
from holdfast.store import dsn

NO_TIME_LIMIT = inf
MAX_SKIPPED_SHOWN = 10


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--status", action="store_true", help="only show what is waiting; send nothing"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    url = dsn.find_team_url(os.environ)
    if not url:
        raise InvalidInput(
            "No team database is configured",
            hint=f"set {dsn.DATABASE_VARIABLE}=postgresql://user@host/database",
        )
    target = dsn.render_dsn(dsn.parse_dsn(url))
    with open_store() as (store, config), SearchIndex(config.index) as index:
        ledger = open_local_ledger(config.ledger)
        with closing(ledger.database):
            if args.status:
                return _print_waiting(
                    measure_backlog(store, ledger, target, index), target, args.json
                )
            refresh_index(index, store.transcripts(None), time.time(), NO_TIME_LIMIT)
            from holdfast.store.postgres import PostgresStore

            with closing(PostgresStore.at(url)) as team:
                shared = Ledger(team.database)
                sent = sync(store, ledger, team, shared, target, time.time(), index=index)
    return _print_sent(sent, target, args.json)


def _print_waiting(backlog: SyncBacklog, target: str, as_json: bool) -> int:
    if as_json:
        counts = {"sessions": backlog.sessions, "rows": backlog.rows, "texts": backlog.texts}
        print_json({"target": target, **counts, "last": to_iso_time(backlog.last_at)})
        return 0
    print_message(
        f"{target}: {format_count(backlog.sessions)} sessions, {format_count(backlog.rows)} rows "
        f"and the texts of {format_count(backlog.texts)} sessions are waiting; "
        f"last sent {format_age(backlog.last_at)}."
    )
    return 0


def _print_sent(sent: SyncResult, target: str, as_json: bool) -> int:
    if as_json:
        print_json({"target": target, **asdict(sent)})
        return 0
    print_message(
        f"{target}: {format_count(sent.sessions)} sessions, {format_count(sent.rows)} rows and "
        f"{format_count(sent.texts)} texts were sent; "
        f"{format_count(sent.received)} messages were received."
    )
    for reason in sent.skipped[:MAX_SKIPPED_SHOWN]:
        print_message(f"Not sent; retried next time: {reason}", style="yellow")
    if len(sent.skipped) > MAX_SKIPPED_SHOWN:
        print_message(
            f"and {format_count(len(sent.skipped) - MAX_SKIPPED_SHOWN)} more", style="yellow"
        )
    return 0
