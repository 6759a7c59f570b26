"""Take the hooks out of Claude Code's settings.json.

If nobody changed the file since the install it becomes what it was, byte for byte; otherwise
exactly our entries are removed. What Holdfast saved stays where it is.
"""

from __future__ import annotations

import argparse
import os

from holdfast import settings
from holdfast.actions import install as action
from holdfast.surfaces.cli.install import add_scope, path_of, show
from holdfast.surfaces.cli.output import say


def arguments(parser: argparse.ArgumentParser) -> None:
    add_scope(parser)
    parser.add_argument("--dry-run", action="store_true", help="show the change, write nothing")


def run(args: argparse.Namespace) -> int:
    home = settings.home(os.environ)
    change = action.plan_uninstall(path_of(args), home)
    if args.dry_run:
        show(change)
        return 0
    action.uninstall(change, home)
    if not change.is_needed:
        say(f"Holdfast is not installed in {change.path}; nothing to do.")
        return 0
    say(f"Taken out of {change.path} ({change.note}).")
    if os.path.isdir(home):
        say(f"Saved states stay in {home}.")
    return 0
