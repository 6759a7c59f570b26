"""Who may use `holdfast serve` from other machines.

holdfast token new NAME --scope read     prints a token, once; only its hash is kept
holdfast token new NAME --project .      good for this project, and for nothing of others
holdfast token list
holdfast token revoke ID                 or the name, if it is one token's
"""

from __future__ import annotations

import argparse
import os
import time
from contextlib import closing
from typing import Any

from holdfast import settings
from holdfast.actions.project import project_of
from holdfast.actions.repository import origin_of
from holdfast.errors import BadUsage, NoSuchRecord
from holdfast.ledger import projects, tokens
from holdfast.ledger.ledger import Ledger
from holdfast.ledger.opening import chosen_ledger
from holdfast.ledger.tables import PROJECTS
from holdfast.surfaces.cli.output import ago, console, print_json, say, stamp, table
from holdfast.surfaces.cli.sessions import here

DAY = 86_400


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("new", "list", "revoke"), help="what to do")
    parser.add_argument(
        "name", nargs="?", help="a new one's name, or the id or name of one to revoke"
    )
    parser.add_argument(
        "--scope", choices=tokens.SCOPES, default="write", help="what it allows (write)"
    )
    parser.add_argument(
        "--project", default="", metavar="PATH", help="only this one, by a folder in it or its id"
    )
    parser.add_argument("--days", type=int, metavar="N", help="for how long (until revoked)")
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> int:
    if (args.what == "list") != (args.name is None):
        raise BadUsage(f"holdfast token {args.what}{'' if args.what == 'list' else ' NAME'}")
    if args.what == "new" and not args.name.strip():
        raise BadUsage("a token needs a name", hint="by it you know later which one to revoke")
    if args.days is not None and args.days < 1:
        raise BadUsage("--days is a positive number")
    chosen = settings.load(os.environ, here())
    ledger = chosen_ledger(chosen.ledger, os.environ)
    with closing(ledger.database):
        return {"new": _new, "list": _list, "revoke": _revoke}[args.what](ledger, args)


def _new(ledger: Ledger, args: argparse.Namespace) -> int:
    seconds = None if args.days is None else args.days * DAY
    project = _project(ledger, args.project) if args.project else None
    row, token = tokens.new(
        ledger, time.time(), name=args.name, scope=args.scope, seconds=seconds,
        project=project["id"] if project else "",
    )  # fmt: skip
    if args.json:
        print_json({**_described(row), "token": token})
        return 0
    print(token)
    where = f" in {project['path']}" if project else ""
    say(f"{row['id']} may {row['scope']}{where}; nobody can look this token up later.")
    return 0


def _project(ledger: Ledger, given: str) -> dict[str, Any]:
    """By its id, or by a folder, which becomes known if it was not."""
    known = ledger.get(PROJECTS, given)
    if known is not None:
        return known
    if not os.path.isdir(given):
        raise NoSuchRecord(
            f"project {given}", hint="give a folder in it, or an id of GET /api/projects"
        )
    root = project_of(given)
    return projects.project(ledger, root, time.time(), origin=origin_of(root))


def _list(ledger: Ledger, args: argparse.Namespace) -> int:
    found = tokens.listed(ledger)
    names = {row["id"]: row["path"] for row in ledger.rows(PROJECTS)}
    if args.json:
        print_json([{**_described(row), "state": _state(row, names)} for row in found])
        return 0
    if not found:
        say("There are no tokens; `holdfast token new NAME` makes one.")
        return 0
    rows = [
        (row["id"], row["name"], row["scope"], _where(row, names), ago(row["created_at"]),
         _state(row, names))
        for row in found
    ]  # fmt: skip
    console().print(table(("id", "name", "may", "in", "made", "state"), rows))
    return 0


def _revoke(ledger: Ledger, args: argparse.Namespace) -> int:
    row = tokens.revoke(ledger, _meant(ledger, args.name), time.time())
    say(f"{row['id']} ({row['name']}) is revoked.")
    return 0


def _meant(ledger: Ledger, given: str) -> str:
    """The id of the token that somebody means by its id or by its name."""
    found = tokens.listed(ledger)
    named = [row for row in found if row["name"] == given]
    still = [row for row in named if row["revoked_at"] is None]
    if any(row["id"] == given for row in found) or not named:
        return given
    if len(still) > 1:
        ids = ", ".join(row["id"] for row in still)
        raise BadUsage(f"{len(still)} tokens are named {given}", hint=f"say which by its id: {ids}")
    return str((still or named)[-1]["id"])


def _where(row: dict[str, Any], names: dict[str, str]) -> str:
    return names.get(row["project"], row["project"]) or "all projects"


def _state(row: dict[str, Any], names: dict[str, str]) -> str:
    if row["revoked_at"] is not None:
        return "revoked"
    if row["project"] and row["project"] not in names:
        return "its project was deleted"
    if row["expires_at"] is None:
        return "good"
    days = (row["expires_at"] - time.time()) / DAY
    return f"good for {days:.0f} d" if days > 0 else "expired"


def _described(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": row["id"],
        "name": row["name"],
        "scope": row["scope"],
        "project": row["project"] or None,
        "created": stamp(row["created_at"]),
        "expires": stamp(row["expires_at"]),
        "revoked": stamp(row["revoked_at"]),
    }
