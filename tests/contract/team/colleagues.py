"""Pushes sessions to the team database as a colleague's machine does."""

from __future__ import annotations

import time
from contextlib import closing

from holdfast.search.index_db import SearchIndex
from holdfast.search.push import push_session
from holdfast.search.team_index import TeamIndex
from holdfast.store.postgres import PostgresStore

COLLEAGUE_SESSION = "11111111-0000-4000-8000-00000000000a"
OTHER_PROJECT_SESSION = "22222222-0000-4000-8000-00000000000b"


def push_as_colleague(url: str, index: SearchIndex) -> None:
    with closing(PostgresStore.at(url)) as store:
        for row in index.fetch_all("session_states"):
            push_session(index, row, TeamIndex(store.database), row["project"], time.time())
