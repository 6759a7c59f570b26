"""Idempotency keys: a request that is repeated with the same key creates one row only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.errors import Conflict
from holdfast.ledger.schema import make_id

if TYPE_CHECKING:
    from holdfast.ledger.repository import Ledger, Row
    from holdfast.ledger.schema import Table

COLUMNS = ("retry", "retry_words")


def build_key_columns(key: str, *texts: str) -> Row:
    """Return the columns that store a key and the texts sent with it, as hashes. Without a key
    their values are None.
    """
    if not key:
        return dict.fromkeys(COLUMNS)
    # A key may look like a secret. Redaction would make all such keys the same, so the hash of the
    # key is stored.
    return {"retry": make_id("retry", key), "retry_words": make_id("words", *texts)}


def find_by_key(ledger: Ledger, table: Table, row: Row) -> Row | None:
    """Return the row of the same session that was created with the same key, if any.

    Raises Conflict if the key was used with other texts.
    """
    if row["retry"] is None:
        return None
    known = ledger.find_one(table, session=row["session"], retry=row["retry"])
    if known is not None and known["retry_words"] != row["retry_words"]:
        raise Conflict(
            f"This idempotency key was used with other content, for {known['id']}",
            hint="use a separate key for each request, task and subtask",
        )
    return known
