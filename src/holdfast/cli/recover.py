"""Import transcripts from before Holdfast was installed into the store, also compressed ones.

holdfast recover ~/.claude/projects

The column *lost* counts what the summary of the last compaction did not keep, out of what was known
before it; `holdfast compactions show N --session ID` lists it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from holdfast.cli.console import (
    make_console,
    make_table,
    print_json,
    print_message,
    show_progress,
)
from holdfast.errors import UnreadableTranscript
from holdfast.services.compaction.recover import RecoveredSession, find_transcripts, recover_session
from holdfast.services.sessions import open_store
from holdfast.store.protocols import Store


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", nargs="+", metavar="FILE", help="transcripts, or folders with transcripts"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    paths = find_transcripts(args.paths)
    if not paths:
        raise UnreadableTranscript("no .jsonl file found", hint="give files, or a folder of them")
    with open_store() as (store, _):
        results = [*show_progress(_recover(store, paths), "recovering", len(paths))]
    recovered = [result for result in results if isinstance(result, RecoveredSession)]
    failed = [result for result in results if isinstance(result, str)]
    for reason in failed:
        print_message(f"skipped: {reason}")
    if args.json:
        print_json({"recovered": [asdict(session) for session in recovered], "skipped": failed})
        return 0 if recovered else 1
    columns = ("session", "requests", "files", "compactions", "lost", "bad lines")
    if recovered:
        make_console().print(make_table(columns, [_to_row(session) for session in recovered]))
    print_message(f"{len(recovered)} of {len(paths)} transcripts were imported.")
    _print_hint(recovered)
    return 0 if recovered else 1


def _recover(store: Store, paths: Sequence[str]) -> Iterator[RecoveredSession | str]:
    """Yield each session, or why its file was skipped."""
    for path in paths:
        try:
            yield recover_session(store, path, time.time())
        except UnreadableTranscript as problem:
            yield problem.detail


def _to_row(session: RecoveredSession) -> tuple[str, ...]:
    return (
        session.session,
        str(session.requests),
        str(session.files),
        str(session.compactions),
        "–" if session.lost is None else f"{session.lost} of {session.known}",
        str(session.bad_lines),
    )


def _print_hint(recovered: list[RecoveredSession]) -> None:
    compacted = [session for session in recovered if session.lost is not None]
    if compacted:
        last = compacted[-1]
        print_message(
            f"What was lost: holdfast compactions show {last.compactions} --session {last.session}"
        )
