"""Compare two snapshots of a session.

holdfast diff 1a2b3c4d 5e6f7a8b
holdfast diff 1a2b3c4d now
"""

from __future__ import annotations

import argparse

from holdfast.cli.console import make_console, make_table, print_json, print_message
from holdfast.cli.options import add_session_argument, find_session
from holdfast.reports.diff import StateChange, diff_states
from holdfast.services.sessions import open_store, refresh_session
from holdfast.state.types import State
from holdfast.store.protocols import Store

MARKS = {"added": "+", "gone": "–", "changed": "~"}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("a", metavar="A", help="id of a snapshot, from `holdfast snapshots`")
    parser.add_argument("b", metavar="B", help="id of another one, or `now`")
    add_session_argument(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    with open_store(team=True) as (store, _):
        old, new = (_load_state(store, name, args) for name in (args.a, args.b))
    changes = diff_states(old, new)
    if args.json:
        print_json([change._asdict() for change in changes])
        return 0
    if not changes:
        print_message("There is no difference.")
        return 0
    make_console().print(
        make_table(("", "what", "text", "line"), [_cells(change) for change in changes])
    )
    return 0


def _load_state(store: Store, name: str, args: argparse.Namespace) -> State:
    if name == "now":
        return refresh_session(store, find_session(store, args)).state
    return store.snapshot(name)["state"]


def _cells(change: StateChange) -> tuple[str, ...]:
    values = f" ({change.before} → {change.after})" if change.change == "changed" else ""
    if change.change == "added" and change.after:
        values = f" ({change.after})"
    return MARKS[change.change], change.kind, change.text + values, f"L{change.line}"
