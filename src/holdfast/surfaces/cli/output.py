"""How commands speak: tables and colour for people, JSON for programs.

Rich is loaded when something is drawn, and `json` when it is asked for: a lookup that an agent
waits for needs neither.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

# Wide enough that nothing is wrapped in a pipe, where it would break ids and paths.
UNWRAPPED = 10_000
# A transcript can hold anything, also what would steer the reader's terminal.
STEERING = dict.fromkeys(
    [sign for sign in (*range(32), *range(127, 160)) if chr(sign) not in "\t\n"]
)


def console() -> Console:
    """For data. Rich honours NO_COLOR by itself."""
    from rich.console import Console

    return Console(highlight=False, emoji=False, width=None if sys.stdout.isatty() else UNWRAPPED)


def say(text: str, style: str = "") -> None:
    """Words about the data go to stderr, so that data can be piped."""
    if not sys.stderr.isatty() and not os.environ.get("FORCE_COLOR"):
        print(text, file=sys.stderr)
        return
    from rich.console import Console
    from rich.text import Text

    Console(stderr=True, highlight=False, soft_wrap=True).print(Text(text, style))


def bold(text: str) -> str:
    """For a heading among data that must stay as it is."""
    wanted = sys.stdout.isatty() or os.environ.get("FORCE_COLOR")
    return f"\x1b[1m{text}\x1b[0m" if wanted and not os.environ.get("NO_COLOR") else text


def print_json(value: Any) -> None:
    import json

    json.dump(value, sys.stdout, indent=2, ensure_ascii=False)
    print()


def harmless(text: str) -> str:
    """Text of somebody else's without what terminals obey."""
    return text.translate(STEERING)


def table(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Table:
    from rich.table import Table
    from rich.text import Text

    plain = os.environ.get("NO_COLOR")
    made = Table(box=None, header_style="" if plain else "bold", pad_edge=False)
    for column in columns:
        made.add_column(column, overflow="fold")
    for row in rows:
        made.add_row(*(Text(harmless(cell)) for cell in row))
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
