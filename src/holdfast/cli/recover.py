"""Import transcripts from before Holdfast was installed into the store.

holdfast recover ~/.claude/projects
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import asdict

from rich.console import Console
from rich.progress import track

from holdfast.cli.console import make_console, make_table, print_json, print_message
from holdfast.errors import UnreadableTranscript
from holdfast.services.compaction.recover import RecoveredSession, find_transcripts, recover_session
from holdfast.services.sessions import open_store


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", nargs="+", metavar="FILE", help="transcripts, or folders with transcripts"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    paths = find_transcripts(args.paths)
    if not paths:
        raise UnreadableTranscript("no .jsonl file found", hint="give files, or a folder of them")
    recovered: list[RecoveredSession] = []
    failed: list[str] = []
    bar = Console(stderr=True)
    with open_store() as (store, _):
        for path in track(paths, "recovering", console=bar, disable=not sys.stderr.isatty()):
            try:
                recovered.append(recover_session(store, path, time.time()))
            except UnreadableTranscript as problem:
                failed.append(problem.detail)
    for reason in failed:
        print_message(f"skipped: {reason}")
    if args.json:
        print_json({"recovered": [asdict(session) for session in recovered], "skipped": failed})
        return 0 if recovered else 1
    columns = ("session", "requests", "files", "compactions", "bad lines")
    rows = [
        (
            session.session,
            str(session.requests),
            str(session.files),
            str(session.compactions),
            str(session.bad_lines),
        )
        for session in recovered
    ]
    if rows:
        make_console().print(make_table(columns, rows))
    print_message(f"{len(recovered)} of {len(paths)} transcripts were imported.")
    return 0 if recovered else 1
