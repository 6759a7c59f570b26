"""Cursors of paginated lists: opaque to clients, which send `next` back as `page`."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from holdfast import fast_json
from holdfast.errors import InvalidInput


def to_cursor(row: dict[str, Any], order: str) -> str:
    """The place after this row in a list that is sorted by the column `order`, then by id."""
    text = fast_json.dumps([row[order], row["id"]])
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def parse_cursor(cursor: str | None) -> tuple[float, str] | None:
    """The sort value and the id in a cursor; None without one. Raises `InvalidInput`."""
    if not cursor:
        return None
    try:
        at, ident = fast_json.loads(
            base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("utf-8")
        )
        return float(at), str(ident)
    except (binascii.Error, ValueError, TypeError, RecursionError, OverflowError):
        raise InvalidInput(
            "This cursor is not valid", hint="use `next` of the previous page"
        ) from None


def split_page(
    rows: list[dict[str, Any]], limit: int, order: str
) -> tuple[list[dict[str, Any]], str | None]:
    """The first `limit` of at most `limit + 1` rows, and a cursor if there is one more."""
    if len(rows) <= limit:
        return rows, None
    kept = rows[:limit]
    return kept, to_cursor(kept[-1], order)


def slice_by_number(
    rows: list[dict[str, Any]], limit: int, cursor: str | None, number: str
) -> tuple[list[dict[str, Any]], str | None]:
    """One page of a short list that is in memory, sorted ascending by the column `number`."""
    after = parse_cursor(cursor)
    rest = [row for row in rows if after is None or row[number] > after[0]]
    if len(rest) <= limit:
        return rest, None
    return rest[:limit], to_cursor({number: rest[limit - 1][number], "id": ""}, number)
