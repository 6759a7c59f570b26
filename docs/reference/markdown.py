"""What the pages have in common."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast import settings

MADE = "<!-- Made from the code by `make docs`: a change made here is lost. -->"


def titled(title: str) -> str:
    """How a page begins."""
    return f"{MADE}\n\n# {title}\n"


def table(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    lines = [columns, ("---",) * len(columns), *rows]
    return [f"| {' | '.join(cells)} |" for cells in lines]


def shown(value: settings.Value) -> str:
    """A value as people write it."""
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, str):
        return value
    return ("on" if value else "off") if isinstance(value, bool) else f"{value:,}"
