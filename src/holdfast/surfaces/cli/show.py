"""The raw lines that a ref names: L12, L12-15, SESSION:L12, or notes:L12 of a session's notes."""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

from holdfast.actions import refs
from holdfast.actions.lookup import open_desk
from holdfast.actions.refs import Ref
from holdfast.actions.show import Shown, show
from holdfast.errors import BadUsage
from holdfast.surfaces.cli import team
from holdfast.surfaces.cli.output import harmless, print_json, say
from holdfast.surfaces.cli.scope import add_scope_arguments, chosen_scope
from holdfast.surfaces.cli.sessions import open_store


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ref", help="L12, L12-15, notes:L12, or SESSION:… of another one")
    add_scope_arguments(parser, or_transcript="a line of this file (also .gz), no store")
    team.add_team_argument(parser)
    parser.add_argument("--json", action="store_true", help="for programs: each line decoded")


def run(args: argparse.Namespace) -> int:
    ref = refs.parse(args.ref)
    if ref is None:
        raise BadUsage(f"{args.ref!r} is no ref", hint=refs.HINT)
    if args.transcript is not None:
        if ref.in_notes:
            raise BadUsage("a file has no notes", hint="say whose: --session ID, or ID:notes:L12")
        shown = show(None, "", args.transcript, ref)
    else:
        with open_store() as (store, chosen):
            scope = chosen_scope(store, args, with_team=args.team)
            with open_desk(store, chosen.index, scope, time.time()) as desk:
                shown = team.show(desk, ref, ledger=chosen.ledger, asked=args.team)
    if args.json:
        print_json([_described(one, ref) for one in shown])
        return 0
    for one in shown:
        sys.stdout.write(harmless(one.text) + "\n")
    if any(one.is_copy for one in shown):
        say(f"stored copy: {refs.COPIED}.")
    if any(one.of_team for one in shown):
        say(f"team's copy: {refs.SENT}.")
    return 0


def _described(one: Shown, ref: Ref) -> dict[str, Any]:
    content: Any = one.text
    if not one.is_copy and not one.of_team and not ref.in_notes:
        try:
            content = json.loads(one.text, strict=False)
        except (ValueError, RecursionError):
            content = one.text
    return {
        "ref": str(Ref("", one.line, one.line, ref.in_notes)),
        "source": _source(one, ref),
        "content": content,
    }


def _source(one: Shown, ref: Ref) -> str:
    if one.of_team:
        return "team's copy"
    return "stored copy" if one.is_copy else "notes" if ref.in_notes else "transcript"
