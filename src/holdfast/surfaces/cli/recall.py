"""Look up what a brief left out: words anywhere in the session, or a line such as L12 or L12-15."""

from __future__ import annotations

import argparse

from rich.markup import escape

from holdfast.actions.recall import recall
from holdfast.errors import BadUsage
from holdfast.surfaces.cli.output import console, print_json, say
from holdfast.surfaces.cli.sessions import add_session_argument, chosen_session, open_store


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", nargs="+", help="words to look for, or a line: L12, L12-15")
    add_session_argument(parser)
    parser.add_argument("--transcript", metavar="FILE", help="look in this file, no store")
    parser.add_argument(
        "--max-tokens", type=int, default=800, metavar="B", help="default: %(default)s"
    )
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> int:
    query = " ".join(args.query)
    if not query.strip():
        raise BadUsage("nothing to look for", hint="give words, or a line such as L12")
    transcript = args.transcript
    if transcript is None:
        store, _ = open_store()
        transcript = chosen_session(store, args.session)["transcript"]
    hits = recall(transcript, query, max(1, args.max_tokens))
    if args.json:
        print_json([{"ref": f"L{hit.line}", "kind": hit.kind, "text": hit.text} for hit in hits])
    elif not hits:
        say(f"Nothing in {transcript} matches {query!r}.")
    else:
        screen = console()
        for hit in hits:
            screen.print(f"[bold]L{hit.line}[/bold] [dim]{hit.kind}[/dim]")
            screen.print(escape(hit.text), soft_wrap=True)
    return 0 if hits else 1
