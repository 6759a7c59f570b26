"""Cursors of paginated lists: opaque to clients, which send `next` back as `page`."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from holdfast import fast_json
from holdfast.errors import InvalidInput


def to_cursor(row: dict[str, Any], order: str) -> str:
    """Return a cursor to the rows after this one, in a list sorted by the column `order` and id."""
    text = fast_json.dumps([row[order], row["id"]])
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def parse_cursor(cursor: str | None) -> tuple[float, str] | None:
    """Return the sort value and the id in a cursor; None if there is no cursor.

    Raises `InvalidInput` if it cannot be parsed.
    """
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
    """Return the first `limit` of up to `limit + 1` rows, and a cursor if there are more rows."""
    if len(rows) <= limit:
        return rows, None
    kept = rows[:limit]
    return kept, to_cursor(kept[-1], order)


def slice_by_number(
    rows: list[dict[str, Any]], limit: int, cursor: str | None, number: str
) -> tuple[list[dict[str, Any]], str | None]:
    """Return one page of a list in memory, which is sorted by the column `number`, and a cursor if
    there are more rows.
    """
    after = parse_cursor(cursor)
    rest = [row for row in rows if after is None or row[number] > after[0]]
    if len(rest) <= limit:
        return rest, None
    return rest[:limit], to_cursor({number: rest[limit - 1][number], "id": ""}, number)
