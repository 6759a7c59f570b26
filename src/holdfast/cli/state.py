"""Show the whole state of a session, from which every brief is built."""

from __future__ import annotations

import argparse
import sys

from holdfast.brief.render import collect_items
from holdfast.brief.template import SECTIONS
from holdfast.cli.console import print_json, print_message, strip_control_chars
from holdfast.cli.options import add_session_argument, find_session
from holdfast.services.recall.from_file import load_state
from holdfast.services.sessions import open_store, refresh_session


def arguments(parser: argparse.ArgumentParser) -> None:
    add_session_argument(
        parser, or_transcript="read this file (also .gz and .zst), without the store"
    )
    parser.add_argument("--json", action="store_true", help="print the whole state as JSON")


def run(args: argparse.Namespace) -> int:
    if args.transcript is not None:
        state = load_state(args.transcript)
    else:
        with open_store(team=True) as (store, _):
            state = refresh_session(store, find_session(store, args)).state
    if args.json:
        print_json(state)
        return 0
    items = collect_items(state)
    for section, title in SECTIONS.items():
        lines = [item.forms[0] for item in items if item.section == section]
        if lines:
            sys.stdout.write(strip_control_chars(f"## {title}\n" + "\n".join(lines) + "\n\n"))
    usage = state["usage"]
    print_message(
        f"{state['lines']} lines, {usage['tool_calls']} tool calls, "
        f"{len(state['compactions'])} compactions, {usage['context']:,} tokens of context",
        style="dim",
    )
    return 0
