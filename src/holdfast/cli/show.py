"""Print the raw lines of a ref: L12, L12-15, SESSION:L12, or notes:L12 in a session's notes."""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

from holdfast.cli.console import print_json, print_message, strip_control_chars
from holdfast.cli.options import add_scope_arguments, add_team_argument, find_scope
from holdfast.errors import InvalidInput
from holdfast.services.recall import refs, team_lookup
from holdfast.services.recall.lookup import ShownLine, open_lookup, show_lines
from holdfast.services.recall.refs import Ref
from holdfast.services.sessions import open_store


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ref", help="L12, L12-15, notes:L12, or SESSION:… for another session")
    add_scope_arguments(parser, or_transcript="read this file (also .gz), without the store")
    add_team_argument(parser)
    parser.add_argument("--json", action="store_true", help="print JSON, with each line decoded")


def run(args: argparse.Namespace) -> int:
    ref = refs.parse_ref(args.ref)
    if ref is None:
        raise InvalidInput(f"{args.ref!r} is not a ref", hint=refs.REF_HINT)
    if args.transcript is not None:
        if ref.in_notes:
            raise InvalidInput(
                "A transcript file has no notes",
                hint="name the session: --session ID, or ID:notes:L12",
            )
        lines = show_lines(None, "", args.transcript, ref)
    else:
        with open_store() as (store, config):
            scope = find_scope(store, args, with_team=args.team)
            with open_lookup(store, config.index, scope, time.time()) as lookup:
                lines = team_lookup.show_with_team(
                    lookup, ref, ledger=config.ledger, include_team=args.team
                )
    if args.json:
        print_json([_to_json(line, ref) for line in lines])
        return 0
    for line in lines:
        sys.stdout.write(strip_control_chars(line.text) + "\n")
    if any(line.is_copy for line in lines):
        print_message(f"stored copy: {refs.COPY_NOTE}.")
    if any(line.of_team for line in lines):
        print_message(f"team's copy: {refs.TEAM_COPY_NOTE}.")
    return 0


def _to_json(line: ShownLine, ref: Ref) -> dict[str, Any]:
    content: Any = line.text
    if not line.is_copy and not line.of_team and not ref.in_notes:
        try:
            content = json.loads(line.text, strict=False)
        except (ValueError, RecursionError):
            content = line.text
    return {
        "ref": str(Ref("", line.line, line.line, ref.in_notes)),
        "source": _source_of(line, ref),
        "content": content,
    }


def _source_of(line: ShownLine, ref: Ref) -> str:
    if line.of_team:
        return "team's copy"
    return "stored copy" if line.is_copy else "notes" if ref.in_notes else "transcript"
