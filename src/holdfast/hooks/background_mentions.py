"""A background process that indexes a session while its host summarizes the conversation.

A `PreCompact` hook starts it: first the mentions, which the brief needs, then, if much is new, the
texts that the model is about to lose and may look up.
"""

from __future__ import annotations

import os
import sys
import time

from holdfast.services import background

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.hooks.hook_run import HookRun

TIME_LIMIT_SECONDS = 20.0


def start(run: HookRun, environ: Mapping[str, str]) -> None:
    """Start the process and return at once. If it cannot start, the restore does the work."""
    event, settings = run.event, run.settings
    if not event.transcript_path:
        return
    index_path = settings.index if run.needs_search_index else ""
    background.start_process(
        environ, __name__, settings.database, event.session_id, event.transcript_path, index_path
    )


def main() -> None:
    """The background process: arguments are store, session, transcript and index ("" for none)."""
    from holdfast.hooks import background_index
    from holdfast.services.recall.mention_refresh import update_mentions_in_background
    from holdfast.store.sqlite import SQLiteStore

    database, session_id, transcript_path, index_path = sys.argv[1:5]
    background.report_to_log(database)
    deadline = time.perf_counter() + TIME_LIMIT_SECONDS
    store = SQLiteStore(database)
    update_mentions_in_background(
        store, session_id, transcript_path, lambda: time.perf_counter() > deadline
    )
    if index_path:
        background_index.refresh_index(store, index_path)
    os._exit(0)
