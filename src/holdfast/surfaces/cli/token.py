"""Who may use `holdfast serve` from other machines.

holdfast token new NAME --scope read     prints a token, once; only its hash is kept
holdfast token list
holdfast token revoke ID
"""

from __future__ import annotations

import argparse
import os
import time
from contextlib import closing
from typing import Any

from holdfast import settings
from holdfast.errors import BadUsage
from holdfast.ledger import tokens
from holdfast.ledger.ledger import Ledger
from holdfast.ledger.opening import chosen_ledger
from holdfast.surfaces.cli.output import ago, console, print_json, say, stamp, table
from holdfast.surfaces.cli.sessions import here

DAY = 86_400


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("new", "list", "revoke"), help="what to do")
    parser.add_argument("name", nargs="?", help="a new one's name, or the id of one to revoke")
    parser.add_argument(
        "--scope", choices=tokens.SCOPES, default="write", help="what it allows (write)"
    )
    parser.add_argument("--days", type=int, metavar="N", help="for how long (until revoked)")
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> int:
    if (args.what == "list") != (args.name is None):
        raise BadUsage(f"holdfast token {args.what}{'' if args.what == 'list' else ' NAME'}")
    if args.days is not None and args.days < 1:
        raise BadUsage("--days is a positive number")
    chosen = settings.load(os.environ, here())
    ledger = chosen_ledger(chosen.ledger, os.environ)
    with closing(ledger.database):
        return {"new": _new, "list": _list, "revoke": _revoke}[args.what](ledger, args)


def _new(ledger: Ledger, args: argparse.Namespace) -> int:
    seconds = None if args.days is None else args.days * DAY
    row, token = tokens.new(ledger, time.time(), name=args.name, scope=args.scope, seconds=seconds)
    if args.json:
        print_json({**_described(row), "token": token})
        return 0
    print(token)
    say(f"{row['id']} may {row['scope']}; nobody can look this token up later.")
    return 0


def _list(ledger: Ledger, args: argparse.Namespace) -> int:
    found = tokens.listed(ledger)
    if args.json:
        print_json([_described(row) for row in found])
        return 0
    if not found:
        say("There are no tokens; `holdfast token new NAME` makes one.")
        return 0
    rows = [
        (row["id"], row["name"], row["scope"], ago(row["created_at"]), _state(row)) for row in found
    ]
    console().print(table(("id", "name", "may", "made", "state"), rows))
    return 0


def _revoke(ledger: Ledger, args: argparse.Namespace) -> int:
    row = tokens.revoke(ledger, args.name, time.time())
    say(f"{row['id']} ({row['name']}) is revoked.")
    return 0


def _state(row: dict[str, Any]) -> str:
    if row["revoked_at"] is not None:
        return "revoked"
    if row["expires_at"] is None:
        return "good"
    days = (row["expires_at"] - time.time()) / DAY
    return f"good for {days:.0f} d" if days > 0 else "expired"


def _described(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": row["id"],
        "name": row["name"],
        "scope": row["scope"],
        "created": stamp(row["created_at"]),
        "expires": stamp(row["expires_at"]),
        "revoked": stamp(row["revoked_at"]),
    }
