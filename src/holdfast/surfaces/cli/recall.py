"""Look up what a brief left out: words anywhere in the session, or a line such as L12 or L12-15."""

from __future__ import annotations

import argparse

from rich.text import Text

from holdfast.actions.recall import recall
from holdfast.errors import BadUsage
from holdfast.state.wording import one_line
from holdfast.surfaces.cli.output import console, harmless, print_json, say
from holdfast.surfaces.cli.sessions import add_session_argument, chosen_session, open_store


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", nargs="+", help="words to look for, or a line: L12, L12-15")
    add_session_argument(parser, or_transcript="look in this file, no store")
    parser.add_argument(
        "--max-tokens",
        type=int,
        default=800,
        metavar="B",
        help="a hard budget in tokens (default: %(default)s)",
    )
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> int:
    query = " ".join(args.query)
    if not query.strip():
        raise BadUsage("nothing to look for", hint="give words, or a line such as L12")
    if args.max_tokens < 1:
        raise BadUsage("--max-tokens is a positive number")
    transcript = args.transcript
    if transcript is None:
        with open_store() as (store, _):
            transcript = chosen_session(store, args)["transcript"]
    hits, left_out = recall(transcript, query, args.max_tokens)
    if args.json:
        print_json([{"ref": f"L{hit.line}", "kind": hit.kind, "text": hit.text} for hit in hits])
    screen = console()
    for hit in () if args.json else hits:
        screen.print(Text.assemble((f"L{hit.line}", "bold"), " ", (hit.kind, "dim")))
        # Not by rich, which would turn tabs into spaces.
        print(harmless(hit.text))
    if left_out:
        say(
            f"{left_out} more do not fit into {args.max_tokens} tokens (--max-tokens).", style="dim"
        )
    if not hits:
        say(f"Nothing in {transcript} matches {one_line(query, 80)!r}.")
    return 0 if hits else 1
