"""Where a page ended, as a word that callers hand back unread."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from holdfast import quick_json
from holdfast.errors import BadUsage


def written(row: dict[str, Any], order: str) -> str:
    text = quick_json.dumps([row[order], row["id"]])
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read(word: str | None) -> tuple[float, str] | None:
    if not word:
        return None
    try:
        at, ident = quick_json.loads(
            base64.urlsafe_b64decode(word + "=" * (-len(word) % 4)).decode("utf-8")
        )
        return float(at), str(ident)
    except (binascii.Error, ValueError, TypeError, RecursionError, OverflowError):
        raise BadUsage(
            "this cursor is not one of ours", hint="take `next` of the last page"
        ) from None


def part(
    items: list[dict[str, Any]], most: int, word: str | None, number: str
) -> tuple[list[dict[str, Any]], str | None]:
    """The same of a short list that is there as a whole, in the order of its numbers."""
    after = read(word)
    rest = [one for one in items if after is None or one[number] > after[0]]
    if len(rest) <= most:
        return rest, None
    return rest[:most], written({number: rest[most - 1][number], "id": ""}, number)


def page(
    rows: list[dict[str, Any]], most: int, order: str
) -> tuple[list[dict[str, Any]], str | None]:
    """The rows of one page, of which one more was asked for, and where the next begins."""
    if len(rows) <= most:
        return rows, None
    kept = rows[:most]
    return kept, written(kept[-1], order)
