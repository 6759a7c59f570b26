"""What sub-agents handed on: list them, show one, or check what one is about to hand on.

holdfast handoff show 1a2b3c4d --raw prints all that it said. `check` reads a response from a file,
or from stdin, and says what is wrong with it; it exits 1 if anything is.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from holdfast.actions.handoffs import described
from holdfast.errors import BadUsage
from holdfast.handoff.model import Handoff
from holdfast.store.base import HandoffRow
from holdfast.surfaces.cli.output import ago, console, count, print_json, say, stamp, table
from holdfast.surfaces.cli.sessions import (
    add_session_argument,
    chosen_session,
    open_store,
    refresh,
)

LARGEST = 8 << 20


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("list", "show", "check"), help="what to do")
    parser.add_argument(
        "which", nargs="?", metavar="ID|FILE", help="show: from the list; check: a file (or stdin)"
    )
    parser.add_argument("--raw", action="store_true", help="with show: all that it said")
    parser.add_argument("--json", action="store_true", help="for programs")
    add_session_argument(parser)


def run(args: argparse.Namespace) -> int:
    if args.what == "check":
        return _check(args)
    if args.what == "show" and not args.which:
        raise BadUsage("which handoff", hint="`holdfast handoff list` lists them")
    return _show(args) if args.what == "show" else _list(args)


def _list(args: argparse.Namespace) -> int:
    with open_store(team=True) as (store, _):
        row = chosen_session(store, args)
        state = refresh(store, row).state
        found = [described(one, state) for one in store.handoffs(row["id"])]
    if args.json:
        print_json([_told(one) for one in found])
        return 0
    if not found:
        say(f"No sub-agent of session {row['id']} has handed anything on yet.")
        return 0
    rows = [
        (
            one["id"],
            ago(one["captured_at"]),
            one["agent_type"],
            one["decision"] or one["status"] or "–",
            f"{count(one['tokens_before'])} → {count(one['tokens_after'])}",
            one["task"],
        )
        for one in found
    ]
    console().print(table(("id", "stopped", "agent", "says", "tokens", "task"), rows))
    before, after = (sum(one[key] for one in found) for key in ("tokens_before", "tokens_after"))
    say(f"{count(before)} tokens said, {count(after)} handed on.", style="dim")
    return 0


def _show(args: argparse.Namespace) -> int:
    with open_store(team=True) as (store, _):
        one = store.handoff(args.which)
    if args.raw:
        sys.stdout.write(one["raw"].rstrip("\n") + "\n")
        return 0
    if args.json:
        print_json({**_told(one), "raw": one["raw"]})
        return 0
    say(
        f"Handoff {one['id']} of {one['agent_type'] or 'agent'} {one['agent']}, "
        f"{ago(one['captured_at'])}; {count(one['tokens_before'])} tokens with --raw",
        style="dim",
    )
    _print(one["status"], one["decision"], one["content"])
    return 0


def _print(status: str, decision: str, content: dict[str, Any]) -> None:
    for name, value in (("status", status), ("decision", decision)):
        if value:
            print(f"{name}: {value}")
    for name in ("files_changed", "issues"):
        if content.get(name):
            print(f"{name}: {', '.join(content[name])}")
    print(content.get("context_summary", ""))


def _told(one: HandoffRow) -> dict[str, Any]:
    told: dict[str, Any] = {key: value for key, value in one.items() if key != "raw"}
    content = told.pop("content")
    told["stopped"] = stamp(told.pop("captured_at"))
    return {**told, **content}


def _check(args: argparse.Namespace) -> int:
    made = Handoff.parse(_read(args.which))
    if args.json:
        print_json(replace(made, findings=None).as_dict())
    else:
        _print(made.status, made.decision, made.as_dict())
        say(f"{count(made.raw_tokens)} tokens said, {count(made.tokens)} handed on.", style="dim")
    for problem in made.problems:
        say(f"- {problem}")
    return 1 if made.problems else 0


def _read(path: str | None) -> str:
    if not path or path == "-":
        return sys.stdin.read(LARGEST)
    try:
        with Path(path).open(encoding="utf-8", errors="replace") as file:
            return file.read(LARGEST)
    except OSError as problem:
        raise BadUsage(f"{path}: {problem.strerror}", hint="give a file, or - for stdin") from None
