"""Show one saved state: as the brief it would give, or whole with --json.

holdfast snapshot show 1a2b3c4d
"""

from __future__ import annotations

import argparse
import sys

from holdfast.brief.render import build
from holdfast.hosts import claude_code
from holdfast.surfaces.cli.output import ago, print_json, say, stamp
from holdfast.surfaces.cli.sessions import open_store


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("show",), help="print it")
    parser.add_argument("id", metavar="ID", help="from `holdfast snapshots`")
    parser.add_argument("--json", action="store_true", help="the whole state")


def run(args: argparse.Namespace) -> int:
    with open_store(team=True) as (store, chosen):
        found = store.snapshot(args.id)
    if args.json:
        print_json({**found, "created": stamp(found["created_at"])})
        return 0
    brief = build(
        found["state"],
        tokens=chosen.brief_tokens,
        characters=claude_code.CHARACTERS,
        session=found["session"],
    )
    say(
        f"Snapshot {found['id']} of session {found['session']}, "
        f"{ago(found['created_at'])} ({found['reason']}), up to line {found['line']}",
        style="dim",
    )
    sys.stdout.write(brief.text)
    return 0
