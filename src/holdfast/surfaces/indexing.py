"""A process that nobody waits for: index a session while its host summarises.

The hook before a compaction starts it: first the names, which the brief needs, then, if many are
new, the texts that the model is about to lose and may look up.
"""

from __future__ import annotations

import os
import sys
import time

from holdfast.surfaces import apart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.surfaces.moments import Job

SECONDS = 20.0


def start(job: Job, environment: Mapping[str, str]) -> None:
    """Start it and return at once. Where it cannot be started, the restore does the work."""
    call, chosen = job.call, job.settings
    if call.transcript:
        index = chosen.index if job.fill_index else ""
        apart.start(environment, __name__, chosen.database, call.session, call.transcript, index)


def main() -> None:
    from holdfast.actions.name_index import index_apart
    from holdfast.store.sqlite import SQLiteStore
    from holdfast.surfaces import filling

    database, session, transcript, index = sys.argv[1:5]
    end = time.perf_counter() + SECONDS
    store = SQLiteStore(database)
    index_apart(store, session, transcript, lambda: time.perf_counter() > end)
    if index:
        filling.fill(store, index)
    os._exit(0)
