"""Keys with which callers ask again: one key is one row, whether or not its answer had arrived."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.errors import NotNow
from holdfast.ledger import ids

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Ledger, Row
    from holdfast.ledger.tables import Table

COLUMNS = ("retry", "retry_words")


def asked(key: str, *words: str) -> Row:
    """What a row keeps of the key that it came with."""
    if not key:
        return dict.fromkeys(COLUMNS)
    # A key may look like a secret, and two that were taken out would be one: its hash is kept.
    return {"retry": ids.ident("retry", key), "retry_words": ids.ident("words", *words)}


def answered(ledger: Ledger, table: Table, row: Row) -> Row | None:
    """The row that was made when its key came before, in the same session."""
    if row["retry"] is None:
        return None
    known = ledger.first(table, session=row["session"], retry=row["retry"])
    if known is not None and known["retry_words"] != row["retry_words"]:
        raise NotNow(
            f"this key came with other words before, for {known['id']}",
            hint="give each request, task and subtask a key of its own",
        )
    return known
