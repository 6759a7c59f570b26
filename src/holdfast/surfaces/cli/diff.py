"""What became of a session between two snapshots.

holdfast diff 1a2b3c4d 5e6f7a8b
holdfast diff 1a2b3c4d now
"""

from __future__ import annotations

import argparse

from holdfast.state.model import State
from holdfast.store.base import Store
from holdfast.surfaces.cli.output import console, print_json, say, table
from holdfast.surfaces.cli.sessions import (
    add_session_argument,
    chosen_session,
    open_store,
    refresh,
)
from holdfast.views.diff import Difference, difference

SIGNS = {"added": "+", "gone": "–", "changed": "~"}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("a", metavar="A", help="a snapshot's id, from `holdfast snapshots`")
    parser.add_argument("b", metavar="B", help="another, or `now`")
    add_session_argument(parser)
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> int:
    with open_store(team=True) as (store, _):
        old, new = (_state(store, name, args) for name in (args.a, args.b))
    found = difference(old, new)
    if args.json:
        print_json([one._asdict() for one in found])
        return 0
    if not found:
        say("Nothing is different.")
        return 0
    console().print(table(("", "what", "text", "line"), [_cells(one) for one in found]))
    return 0


def _state(store: Store, name: str, args: argparse.Namespace) -> State:
    if name == "now":
        return refresh(store, chosen_session(store, args)).state
    return store.snapshot(name)["state"]


def _cells(one: Difference) -> tuple[str, ...]:
    stands = f" ({one.before} → {one.after})" if one.change == "changed" else ""
    if one.change == "added" and one.after:
        stands = f" ({one.after})"
    return SIGNS[one.change], one.kind, one.text + stands, f"L{one.line}"
