"""How commands speak: tables and colour for people, JSON for programs."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table


def console() -> Console:
    """For data. Rich honours NO_COLOR and plain pipes by itself."""
    return Console(soft_wrap=False, highlight=False)


def say(text: str) -> None:
    """Words about the data go to stderr, so that data can be piped."""
    Console(stderr=True, highlight=False).print(text)


def print_json(value: Any) -> None:
    json.dump(value, sys.stdout, indent=2, ensure_ascii=False)
    print()


def table(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Table:
    made = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        made.add_column(column, overflow="fold")
    for row in rows:
        made.add_row(*(escape(cell) for cell in row))
    return made


def ago(then: float | None, now: float | None = None) -> str:
    """How long ago, as a person would say it."""
    if then is None:
        return "never"
    seconds = max(0.0, (time.time() if now is None else now) - then)
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit} ago"
    return "just now" if seconds < 5 else f"{int(seconds)} s ago"


def stamp(then: float | None) -> str | None:
    """A time for programs: ISO 8601 in UTC."""
    return None if then is None else time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(then))


def count(number: int) -> str:
    return f"{number:,}"
