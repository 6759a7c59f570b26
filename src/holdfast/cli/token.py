"""Manage the tokens that other users and other machines need to use `holdfast serve`.

holdfast token new NAME --scope read     prints the token once; only its hash is stored
holdfast token new NAME --project .      valid for this project only
holdfast token list
holdfast token revoke ID                 or its name, if only one token has it
holdfast token local                     prints your own, for a server that cannot tell who calls
"""

from __future__ import annotations

import argparse
import os
import time
from contextlib import closing
from typing import Any

from holdfast import settings
from holdfast.cli.console import (
    format_age,
    make_console,
    make_table,
    print_json,
    print_message,
    print_secret,
    to_iso_time,
)
from holdfast.errors import InvalidInput, NotFound
from holdfast.ledger import projects, tokens
from holdfast.ledger.connect import open_ledger
from holdfast.ledger.repository import Ledger
from holdfast.ledger.schema import PROJECTS
from holdfast.server import local_token
from holdfast.services.projects import find_origin, find_project
from holdfast.services.sessions import current_folder

DAY_SECONDS = 86_400


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("new", "list", "revoke", "local"), help="what to do")
    parser.add_argument("name", nargs="?", help="new: its name; revoke: its id or name")
    parser.add_argument(
        "--scope", choices=tokens.SCOPES, default="write", help="what the token allows (write)"
    )
    parser.add_argument(
        "--project",
        default="",
        metavar="PATH",
        help="only this project, by its id or a folder in it",
    )
    parser.add_argument(
        "--days", type=int, metavar="N", help="valid for N days (default: until revoked)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    has_name = args.what in ("new", "revoke")
    if has_name != (args.name is not None):
        raise InvalidInput(f"Usage: holdfast token {args.what}{' NAME' if has_name else ''}")
    if args.what == "new" and not args.name.strip():
        raise InvalidInput("A token needs a name", hint="it shows later which one to revoke")
    if args.days is not None and args.days < 1:
        raise InvalidInput("--days takes a positive number")
    config = settings.load(os.environ, current_folder())
    if args.what == "local":
        print_secret(local_token.ensure(config.home))
        return 0
    ledger = open_ledger(config.ledger, os.environ)
    with closing(ledger.database):
        return {"new": _new, "list": _list, "revoke": _revoke}[args.what](ledger, args)


def _new(ledger: Ledger, args: argparse.Namespace) -> int:
    seconds = None if args.days is None else args.days * DAY_SECONDS
    project = _find_or_add_project(ledger, args.project) if args.project else None
    row, token = tokens.create_token(
        ledger, time.time(), name=args.name, scope=args.scope, seconds=seconds,
        project=project["id"] if project else "",
    )  # fmt: skip
    if args.json:
        print_json({**_to_json(row), "token": token}, is_secret=True)
        return 0
    print_secret(token)
    where = f" in {project['path']}" if project else ""
    print_message(f"{row['id']} may {row['scope']}{where}; the token cannot be shown again.")
    return 0


def _find_or_add_project(ledger: Ledger, given: str) -> dict[str, Any]:
    """Return a project by its id or by a folder in it; a new folder is recorded."""
    row = ledger.get(PROJECTS, given)
    if row is not None:
        return row
    if not os.path.isdir(given):
        raise NotFound(
            f"No project {given} is recorded",
            hint="give a folder in it, or an id of GET /api/projects",
        )
    root = find_project(given)
    return projects.ensure_project(ledger, root, time.time(), origin=find_origin(root))


def _list(ledger: Ledger, args: argparse.Namespace) -> int:
    token_rows = tokens.list_tokens(ledger)
    project_paths = {row["id"]: row["path"] for row in ledger.find(PROJECTS)}
    if args.json:
        print_json(
            [{**_to_json(row), "state": _render_state(row, project_paths)} for row in token_rows]
        )
        return 0
    if not token_rows:
        print_message("There are no tokens; `holdfast token new NAME` creates one.")
        return 0
    rows = [
        (row["id"], row["name"], row["scope"], _project_name(row, project_paths),
         format_age(row["created_at"]), _render_state(row, project_paths))
        for row in token_rows
    ]  # fmt: skip
    columns = ("id", "name", "scope", "project", "created", "state")
    make_console().print(make_table(columns, rows))
    return 0


def _revoke(ledger: Ledger, args: argparse.Namespace) -> int:
    row = tokens.revoke_token(ledger, _find_id(ledger, args.name), time.time())
    print_message(f"{row['id']} ({row['name']}) is revoked.")
    return 0


def _find_id(ledger: Ledger, given: str) -> str:
    """Return the id of the token with this id or name. Fails if several active ones have it."""
    rows = tokens.list_tokens(ledger)
    matching = [row for row in rows if row["name"] == given]
    active = [row for row in matching if row["revoked_at"] is None]
    if any(row["id"] == given for row in rows) or not matching:
        return given
    if len(active) > 1:
        ids = ", ".join(row["id"] for row in active)
        raise InvalidInput(
            f"{len(active)} tokens are named {given}", hint=f"say which by its id: {ids}"
        )
    return str((active or matching)[-1]["id"])


def _project_name(row: dict[str, Any], project_paths: dict[str, str]) -> str:
    return project_paths.get(row["project"], row["project"]) or "all projects"


def _render_state(row: dict[str, Any], project_paths: dict[str, str]) -> str:
    if row["revoked_at"] is not None:
        return "revoked"
    if row["project"] and row["project"] not in project_paths:
        return "its project was deleted"
    if row["expires_at"] is None:
        return "good"
    days = (row["expires_at"] - time.time()) / DAY_SECONDS
    return f"good for {days:.0f} d" if days > 0 else "expired"


def _to_json(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": row["id"],
        "name": row["name"],
        "scope": row["scope"],
        "project": row["project"] or None,
        "created": to_iso_time(row["created_at"]),
        "expires": to_iso_time(row["expires_at"]),
        "revoked": to_iso_time(row["revoked_at"]),
    }
