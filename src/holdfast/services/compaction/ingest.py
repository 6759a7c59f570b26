"""Read the new lines of a transcript, fold them into the session's state, and save it."""

from __future__ import annotations

from holdfast import hosts
from holdfast.errors import StoreUnavailable, UnreadableTranscript
from holdfast.services.compaction.receipts import update_receipts
from holdfast.services.projects import find_project
from holdfast.state.fold import VERSION as STATE_VERSION
from holdfast.state.fold import advance, new_state
from holdfast.transcript.decoder import Decoder
from holdfast.transcript.reader import TranscriptReader
from holdfast.transcript.subagent_logs import merge_subagent_events

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.hosts.hook_event import HookEvent
    from holdfast.state.types import State
    from holdfast.store.protocols import SessionRow, Store
    from holdfast.transcript.types import Cursor

MAX_SAVE_ATTEMPTS = 5


class IngestedSession:
    """A session whose state includes every line of its transcript."""

    __slots__ = ("first_line", "id", "problem", "state")

    def __init__(self, ident: str, state: State, first_line: int, problem: str) -> None:
        self.id = ident
        self.state = state
        self.first_line = first_line
        """The number of lines when Holdfast first saw the transcript."""
        self.problem = problem
        """Why the transcript could not be read; empty if it could."""


def ingest_transcript(
    store: Store,
    event: HookEvent,
    now: float,
    stop: Callable[[], bool] | None = None,
    *,
    finished: bool = False,
) -> IngestedSession:
    """Continue where the last process stopped; leave a transaction open for the caller.

    `finished` says that the host no longer writes to the transcript. Folding holds no lock, so
    that a long transcript blocks no other process. If another process saves first, this one
    rolls back and continues from the newer state. Raises StoreUnavailable after
    MAX_SAVE_ATTEMPTS such conflicts.
    """
    for _ in range(MAX_SAVE_ATTEMPTS):
        row = store.session(event.session_id)
        state, cursor, changed, problem = _fold_new_lines(row, event, stop, finished)
        first_line = row["first_line"] if row else state["lines"]
        session = IngestedSession(event.session_id, state, first_line, problem)
        store.begin()
        if row is not None and not changed:
            return session
        saved = store.save_session(
            session=event.session_id,
            host=event.host,
            project=row["project"] if row else find_project(event.cwd),
            transcript=event.transcript_path or (row["transcript"] if row else ""),
            cursor=cursor,
            state=state,
            revision=row["revision"] if row else 0,
            now=now,
        )
        if saved:
            update_receipts(store, event, state)
            return session
        store.rollback()
    raise StoreUnavailable(f"session {event.session_id} is being written by too many processes")


def _logs_folder(name: str) -> bool:
    """Whether the host's log names the folder that paths are relative to; else the hook does."""
    host = hosts.find_host(name)
    return host is None or host.TRANSCRIPT_NAMES_CWD


def _fold_new_lines(
    row: SessionRow | None, event: HookEvent, stop: Callable[[], bool] | None, finished: bool
) -> tuple[State, Cursor | None, bool, str]:
    """Return the state and cursor after the new lines, whether they changed, and any problem."""
    state = row["state"] if row else new_state()
    cursor = row["cursor"] if row else None
    # A state of an older version is discarded: the whole log is folded again.
    outdated = state["version"] != STATE_VERSION
    try:
        path = event.transcript_path or (row["transcript"] if row else "")
        reader = TranscriptReader(path, None if outdated else cursor)
    except UnreadableTranscript as problem:
        # The file is not written yet, or deleted: the saved state is all there is.
        return state, cursor, False, str(problem)
    if reader.restarted or outdated:
        state = new_state()
        cursor = None
    if not state["place"] and event.cwd and not _logs_folder(event.host):
        state["place"] = {"root": event.cwd, "cwd": event.cwd}
    start_offset = reader.offset
    decoder = Decoder(cursor, reader.earlier_ids_loader())
    lines = reader.lines(stop=stop, finished=finished)
    advance(state, merge_subagent_events(decoder.events(lines), path))
    changed = reader.restarted or outdated or reader.offset != start_offset or cursor is None
    return state, {**reader.cursor(), **decoder.cursor()} if changed else cursor, changed, ""
