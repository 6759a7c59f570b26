"""Somebody else's machine, as far as the team knows it."""

from __future__ import annotations

import time
from contextlib import closing

from holdfast.index.database import Index
from holdfast.index.sending import send
from holdfast.index.team import TeamIndex
from holdfast.store.postgres import PostgresStore

# Sessions of a colleague: one of the same project, one of another.
THEIRS = "11111111-0000-4000-8000-00000000000a"
FOREIGN = "22222222-0000-4000-8000-00000000000b"


def send_as_colleague(url: str, index: Index) -> None:
    """Send all that an index holds to the team at this address."""
    with closing(PostgresStore.at(url)) as store:
        for row in index.all("standings"):
            send(index, row, TeamIndex(store.database), row["project"], time.time())
