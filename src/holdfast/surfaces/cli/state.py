"""Everything that is known of a session: the state that every brief and view is made of."""

from __future__ import annotations

import argparse
import sys

from holdfast.actions.transcript_file import state_of_file
from holdfast.brief.fill import named_lines
from holdfast.brief.items import items
from holdfast.brief.layout import failing_at
from holdfast.brief.names import of_state, ranked
from holdfast.brief.template import SECTIONS
from holdfast.surfaces.cli.output import harmless, print_json, say
from holdfast.surfaces.cli.sessions import (
    add_session_argument,
    chosen_session,
    open_store,
    refresh,
)


def arguments(parser: argparse.ArgumentParser) -> None:
    add_session_argument(parser, or_transcript="fold this file (also .gz and .zst), no store")
    parser.add_argument("--json", action="store_true", help="the whole state")


def run(args: argparse.Namespace) -> int:
    if args.transcript is not None:
        state = state_of_file(args.transcript)
    else:
        with open_store(team=True) as (store, _):
            state = refresh(store, chosen_session(store, args)).state
    if args.json:
        print_json(state)
        return 0
    found = items(state)
    named = named_lines(state, ranked(state, of_state(state)), failing_at(state))
    for section, title in SECTIONS.items():
        lines = [item.forms[0] for item in found if item.section == section]
        lines += named.get(section, ())
        if lines:
            sys.stdout.write(harmless(f"## {title}\n" + "\n".join(lines) + "\n\n"))
    usage = state["usage"]
    say(
        f"{state['lines']} lines, {usage['tool_calls']} tool calls, "
        f"{len(state['compactions'])} compactions, {usage['context']:,} tokens of context",
        style="dim",
    )
    return 0
