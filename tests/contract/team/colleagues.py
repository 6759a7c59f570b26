"""What somebody else's machine has sent to the team."""

from __future__ import annotations

import time
from contextlib import closing

from holdfast.index.database import Index
from holdfast.index.sending import send
from holdfast.index.team import TeamIndex
from holdfast.store.postgres import PostgresStore

THEIRS = "11111111-0000-4000-8000-00000000000a"
FOREIGN = "22222222-0000-4000-8000-00000000000b"


def send_as_colleague(url: str, index: Index) -> None:
    with closing(PostgresStore.at(url)) as store:
        for row in index.all("standings"):
            send(index, row, TeamIndex(store.database), row["project"], time.time())
