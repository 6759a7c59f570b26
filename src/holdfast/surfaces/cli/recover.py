"""Fold transcripts that were written before Holdfast was installed into the store.

holdfast recover ~/.claude/projects
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import asdict

from rich.console import Console
from rich.progress import track

from holdfast.actions.recover import Recovered, recover, transcripts
from holdfast.errors import NotATranscript
from holdfast.surfaces.cli.output import console, print_json, say, table
from holdfast.surfaces.cli.sessions import open_store


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", metavar="FILE", help="transcripts, or folders of them")
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> int:
    found = transcripts(args.paths)
    if not found:
        raise NotATranscript("no .jsonl file is there", hint="give files, or a folder of them")
    done: list[Recovered] = []
    failed: list[str] = []
    bar = Console(stderr=True)
    with open_store() as (store, _):
        for path in track(found, "recovering", console=bar, disable=not sys.stderr.isatty()):
            try:
                done.append(recover(store, path, time.time()))
            except NotATranscript as problem:
                failed.append(problem.detail)
    for reason in failed:
        say(f"skipped: {reason}")
    if args.json:
        print_json({"recovered": [asdict(one) for one in done], "skipped": failed})
        return 0 if done else 1
    columns = ("session", "requests", "files", "compactions", "bad lines")
    rows = [
        (one.session, str(one.requests), str(one.files), str(one.compactions), str(one.bad_lines))
        for one in done
    ]
    if rows:
        console().print(table(columns, rows))
    say(f"{len(done)} of {len(found)} transcripts are in the store.")
    return 0 if done else 1
