"""List the handoffs of sub-agents, show one, or check a sub-agent's response.

holdfast handoff list
holdfast handoff show 1a2b3c4d --raw     prints the sub-agent's whole response
holdfast handoff check response.md       prints what is wrong with it; exits 1 if anything is
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from holdfast.cli.console import (
    format_age,
    format_count,
    make_console,
    make_table,
    print_json,
    print_message,
    to_iso_time,
)
from holdfast.cli.options import add_session_argument, find_session
from holdfast.errors import InvalidInput
from holdfast.handoff.types import Handoff
from holdfast.services.compaction.handoffs import with_agent_details
from holdfast.services.sessions import open_store, refresh_session
from holdfast.store.protocols import HandoffRow

MAX_INPUT_CHARS = 8 << 20


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("list", "show", "check"), help="what to do with handoffs")
    parser.add_argument(
        "which",
        nargs="?",
        metavar="ID|FILE",
        help="show: id from the list; check: a file (default: stdin)",
    )
    parser.add_argument("--raw", action="store_true", help="with show: print the whole response")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_session_argument(parser)


def run(args: argparse.Namespace) -> int:
    if args.what == "check":
        return _check(args)
    if args.what == "show" and not args.which:
        raise InvalidInput("No handoff id was given", hint="`holdfast handoff list` lists them")
    return _show(args) if args.what == "show" else _list(args)


def _list(args: argparse.Namespace) -> int:
    with open_store(team=True) as (store, _):
        row = find_session(store, args)
        state = refresh_session(store, row).state
        handoffs = [with_agent_details(handoff, state) for handoff in store.handoffs(row["id"])]
    if args.json:
        print_json([_to_json(handoff) for handoff in handoffs])
        return 0
    if not handoffs:
        print_message(f"No sub-agent of session {row['id']} has handed over anything yet.")
        return 0
    rows = [
        (
            handoff["id"],
            format_age(handoff["captured_at"]),
            handoff["agent_type"],
            handoff["decision"] or handoff["status"] or "–",
            f"{format_count(handoff['tokens_before'])} → {format_count(handoff['tokens_after'])}",
            handoff["task"],
        )
        for handoff in handoffs
    ]
    make_console().print(make_table(("id", "stopped", "agent", "result", "tokens", "task"), rows))
    before, after = (
        sum(handoff[key] for handoff in handoffs) for key in ("tokens_before", "tokens_after")
    )
    print_message(
        f"{format_count(before)} tokens in responses, {format_count(after)} in handoffs.",
        style="dim",
    )
    return 0


def _show(args: argparse.Namespace) -> int:
    with open_store(team=True) as (store, _):
        handoff = store.handoff(args.which)
    if args.raw:
        sys.stdout.write(handoff["raw"].rstrip("\n") + "\n")
        return 0
    if args.json:
        print_json({**_to_json(handoff), "raw": handoff["raw"]})
        return 0
    print_message(
        f"Handoff {handoff['id']} of {handoff['agent_type'] or 'agent'} {handoff['agent']}, "
        f"{format_age(handoff['captured_at'])}; "
        f"--raw prints the whole response of {format_count(handoff['tokens_before'])} tokens",
        style="dim",
    )
    _print(handoff["status"], handoff["decision"], handoff["content"])
    return 0


def _print(status: str, decision: str, content: dict[str, Any]) -> None:
    for name, value in (("status", status), ("decision", decision)):
        if value:
            print(f"{name}: {value}")
    for name in ("files_changed", "issues"):
        if content.get(name):
            print(f"{name}: {', '.join(content[name])}")
    print(content.get("context_summary", ""))


def _to_json(handoff: HandoffRow) -> dict[str, Any]:
    data: dict[str, Any] = {key: value for key, value in handoff.items() if key != "raw"}
    content = data.pop("content")
    data["stopped"] = to_iso_time(data.pop("captured_at"))
    return {**data, **content}


def _check(args: argparse.Namespace) -> int:
    handoff = Handoff.parse(_read(args.which))
    if args.json:
        print_json(replace(handoff, findings=None).as_dict())
    else:
        _print(handoff.status, handoff.decision, handoff.as_dict())
        print_message(
            f"{format_count(handoff.raw_tokens)} tokens in the response, "
            f"{format_count(handoff.tokens)} in the handoff.",
            style="dim",
        )
    for problem in handoff.problems:
        print_message(f"- {problem}")
    return 1 if handoff.problems else 0


def _read(path: str | None) -> str:
    if not path or path == "-":
        return sys.stdin.read(MAX_INPUT_CHARS)
    try:
        with Path(path).open(encoding="utf-8", errors="replace") as file:
            return file.read(MAX_INPUT_CHARS)
    except OSError as problem:
        raise InvalidInput(
            f"Cannot read {path} ({problem.strerror})", hint="give a file, or - for stdin"
        ) from None
