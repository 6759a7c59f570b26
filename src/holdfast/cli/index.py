"""Show or rebuild the index that `recall` searches.

Every lookup updates the index, so normally there is nothing to do. `rebuild` reads everything
again.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from holdfast.cli.console import format_count, make_console, make_table, print_json, print_message
from holdfast.search.index_db import SearchIndex
from holdfast.services.projects import find_project
from holdfast.services.recall.index_refresh import IndexProgress, measure_progress, rebuild_index
from holdfast.services.sessions import current_folder, open_store
from holdfast.store.protocols import TranscriptRow


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what", choices=("status", "rebuild"), help="show its progress, or rebuild it"
    )
    parser.add_argument("--all", action="store_true", help="include sessions of every project")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    with open_store() as (store, config):
        rows = store.transcripts(None if args.all else find_project(current_folder()))
        with SearchIndex(config.index) as index:
            if args.what == "rebuild":
                _rebuild(index, rows, everything=args.all)
            sessions = measure_progress(index, rows)
            size, path = index.size, config.index
    if args.json:
        print_json(_to_json(path, size, sessions))
        return 0
    _print_table(sessions)
    texts = sum(progress.indexed for progress in sessions)
    print_message(
        f"{path}: {_format_bytes(size)} in total; {_format_bytes(texts)} of text in these sessions."
    )
    return 0


def _rebuild(index: SearchIndex, rows: list[TranscriptRow], *, everything: bool) -> None:
    started = time.monotonic()
    sizes = [
        os.path.getsize(row["transcript"]) for row in rows if os.path.exists(row["transcript"])
    ]
    with _progress(sum(sizes)) as on_bytes:
        done = rebuild_index(index, rows, time.time(), on_bytes, everything=everything)
    seconds = max(time.monotonic() - started, 1e-3)
    print_message(
        f"{done} of {len(rows)} transcripts were read again: {_format_bytes(sum(sizes))} in "
        f"{seconds:.1f} s."
    )


@contextmanager
def _progress(total: int) -> Iterator[Callable[[int], None]]:
    """Show a progress bar if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("indexing", total=total)
        yield lambda read: bar.advance(task, read)


def _print_table(sessions: list[IndexProgress]) -> None:
    if not sessions:
        print_message("No session is recorded here; --all shows those of every project.")
        return
    columns = ("session", "transcript", "text", "not read yet", "project")
    rows = [
        (
            progress.session,
            _format_bytes(progress.size) if progress.size else "gone",
            _format_bytes(progress.indexed),
            _format_bytes(progress.behind) if progress.behind else "–",
            progress.project,
        )
        for progress in sessions
    ]
    make_console().print(make_table(columns, rows))


def _to_json(path: str, size: int, sessions: list[IndexProgress]) -> dict[str, Any]:
    return {
        "path": path,
        "bytes": size,
        "sessions": [{**progress._asdict(), "gone": not progress.size} for progress in sessions],
    }


def _format_bytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 50_000 else f"{format_count(size)} B"
