"""Markdown that the generated pages share."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast import settings

GENERATED_COMMENT = "<!-- Generated from the code by `make docs`. Do not edit. -->"


def render_title(title: str) -> str:
    """Return the beginning of a page."""
    return f"{GENERATED_COMMENT}\n\n# {title}\n"


def render_table(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the lines of a table."""
    lines = [columns, ("---",) * len(columns), *rows]
    return [f"| {' | '.join(cells)} |" for cells in lines]


def render_value(value: settings.Value) -> str:
    """Return a value as text: switches as on or off, numbers with thousands separators."""
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, str):
        return value
    return ("on" if value else "off") if isinstance(value, bool) else f"{value:,}"
