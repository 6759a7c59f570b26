"""The index that `recall` searches: how far it is, and making it anew.

It is filled by every lookup, so nothing needs to be done; `rebuild` reads everything again.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from holdfast.actions.indexing import Standing, rebuild, standing
from holdfast.actions.project import project_of
from holdfast.index.database import Index
from holdfast.store.base import TranscriptRow
from holdfast.surfaces.cli.output import console, count, print_json, say, table
from holdfast.surfaces.cli.sessions import here, open_store


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("status", "rebuild"), help="show it, or make it anew")
    parser.add_argument("--all", action="store_true", help="sessions of every project")
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> int:
    with open_store() as (store, chosen):
        rows = store.transcripts(None if args.all else project_of(here()))
        with Index(chosen.index) as index:
            if args.what == "rebuild":
                _rebuild(index, rows, everything=args.all)
            found = standing(index, rows)
            size, path = index.size, chosen.index
    if args.json:
        print_json(_described(path, size, found))
        return 0
    _print(found)
    texts = sum(one.indexed for one in found)
    say(f"{path}: {_megabytes(size)} in all; {_megabytes(texts)} of text in these sessions.")
    return 0


def _rebuild(index: Index, rows: list[TranscriptRow], *, everything: bool) -> None:
    started = time.monotonic()
    sizes = [
        os.path.getsize(row["transcript"]) for row in rows if os.path.exists(row["transcript"])
    ]
    with _progress(sum(sizes)) as told:
        done = rebuild(index, rows, time.time(), told, everything=everything)
    seconds = max(time.monotonic() - started, 1e-3)
    say(
        f"{done} of {len(rows)} transcripts were read again: {_megabytes(sum(sizes))} in "
        f"{seconds:.1f} s."
    )


@contextmanager
def _progress(total: int) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal; a pipe gets none."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("indexing", total=total)
        yield lambda read: bar.advance(task, read)


def _print(found: list[Standing]) -> None:
    if not found:
        say("No session is known here; --all shows those of every project.")
        return
    columns = ("session", "transcript", "text", "to be read", "project")
    rows = [
        (
            one.session,
            _megabytes(one.size) if one.size else "gone",
            _megabytes(one.indexed),
            _megabytes(one.behind) if one.behind else "–",
            one.project,
        )
        for one in found
    ]
    console().print(table(columns, rows))


def _described(path: str, size: int, found: list[Standing]) -> dict[str, Any]:
    return {
        "path": path,
        "bytes": size,
        "sessions": [{**one._asdict(), "gone": not one.size} for one in found],
    }


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 50_000 else f"{count(size)} B"
