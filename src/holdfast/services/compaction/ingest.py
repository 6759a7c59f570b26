"""Read the new lines of a transcript, fold them into the session's state, and save it."""

from __future__ import annotations

from holdfast import hosts
from holdfast.errors import StoreUnavailable, UnreadableTranscript
from holdfast.services.compaction.receipts import update_receipts
from holdfast.services.projects import find_project
from holdfast.state.fold import VERSION as STATE_VERSION
from holdfast.state.fold import advance, fold, new_state
from holdfast.transcript.decoder import Decoder
from holdfast.transcript.reader import TranscriptReader
from holdfast.transcript.subagent_logs import merge_subagent_events

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from holdfast.hosts.hook_event import HookEvent
    from holdfast.state.types import State
    from holdfast.store.protocols import SessionRow, Store
    from holdfast.transcript.types import Cursor

MAX_SAVE_ATTEMPTS = 5
# If the time is over, this much of the end is folded too: the latest requests and the current work.
# 8 MB take 50 ms.
TAIL_BYTES = 8 << 20
# A cursor that fits no file: if the log comes back, it is folded from its beginning.
UNKNOWN_FILE: Cursor = {"offset": 0, "line": 0, "device": -1, "inode": -1}
DAMAGED_ROW = "the saved state was damaged and is made again from the transcript"
DAMAGED_WITHOUT_LOG = (
    "the saved state was damaged and the transcript is gone, so the last snapshot replaces it"
)


class IngestedSession:
    """A session whose state includes every line of its transcript, except those in `unread`."""

    __slots__ = ("first_line", "id", "problem", "repair", "state", "unread")

    def __init__(
        self,
        ident: str,
        state: State,
        first_line: int,
        problem: str,
        repair: str = "",
        unread: tuple[int, int] | None = None,
    ) -> None:
        self.id = ident
        self.state = state
        self.first_line = first_line
        """The number of lines when Holdfast first saw the transcript."""
        self.problem = problem
        """Why the transcript could not be read; empty if it could."""
        self.repair = repair
        """What was done about a damaged row; empty if it was not damaged."""
        self.unread = unread
        """The first and the last line that there was no time for, or None.

        The state then begins again after a gap. It is never saved: it would not equal the fold of
        the whole log.
        """

    @property
    def is_complete(self) -> bool:
        return self.unread is None


class _Fold:
    """The result of folding new lines: what is saved, and what is only shown."""

    __slots__ = ("changed", "cursor", "problem", "shown", "state", "unread")

    def __init__(
        self, state: State, cursor: Cursor | None, *, changed: bool = False, problem: str = ""
    ) -> None:
        self.state = self.shown = state
        self.cursor = cursor
        self.changed = changed
        self.problem = problem
        self.unread: tuple[int, int] | None = None


def ingest_transcript(
    store: Store,
    event: HookEvent,
    now: float,
    stop: Callable[[], bool] | None = None,
    *,
    finished: bool = False,
) -> IngestedSession:
    """Continue where the last process stopped; leave a transaction open for the caller.

    `stop` says that the time is over: what was folded so far is saved, and the session that is
    returned has the end of the log as well, without what is between (see `unread`). The next call
    continues. `finished` says that the host no longer writes to the transcript.

    Folding holds no lock, so that a long transcript blocks no other process. If another process
    saves first, this one rolls back and continues from the newer state. Raises StoreUnavailable
    after MAX_SAVE_ATTEMPTS such conflicts.

    A row that is damaged is written anew; snapshots, compactions and receipts are rows of their
    own and stay.
    """
    for _ in range(MAX_SAVE_ATTEMPTS):
        row = store.session(event.session_id)
        is_damaged = row is not None and row["is_damaged"]
        folded = _fold_new_lines(store, row, event, stop, finished)
        lines = folded.shown["lines"]
        first_line = _keep(row, "first_line", int, lines)
        repair = is_damaged and (DAMAGED_WITHOUT_LOG if folded.problem else DAMAGED_ROW)
        session = IngestedSession(
            event.session_id, folded.shown, first_line, folded.problem, repair or "", folded.unread
        )
        store.begin()
        if row is not None and not folded.changed:
            return session
        saved = store.save_session(
            session=event.session_id,
            host=event.host,
            project=_keep(row, "project", str, "") or find_project(event.cwd),
            transcript=event.transcript_path or _keep(row, "transcript", str, ""),
            cursor=folded.cursor,
            state=folded.state,
            revision=row["revision"] if row else 0,
            first_line=first_line,
            replace=is_damaged,
            now=now,
        )
        if saved:
            update_receipts(store, event, folded.state)
            return session
        store.rollback()
    raise StoreUnavailable(f"session {event.session_id} is being written by too many processes")


def _keep(row: SessionRow | None, column: str, kind: type[Any], default: Any) -> Any:
    """Return a column of the row, or the default if there is no row or the column is damaged."""
    value = row[column] if row else default  # type: ignore[literal-required]
    return value if isinstance(value, kind) else default


def _logs_folder(name: str) -> bool:
    """Whether the host's log names the folder that paths are relative to; else the hook does."""
    host = hosts.find_host(name)
    return host is None or host.TRANSCRIPT_NAMES_CWD


def _fold_new_lines(
    store: Store,
    row: SessionRow | None,
    event: HookEvent,
    stop: Callable[[], bool] | None,
    finished: bool,
) -> _Fold:
    """Fold the lines after the row's cursor; without a readable log, return what is saved."""
    state = row["state"] if row else new_state()
    cursor = row["cursor"] if row else None
    # A state of an older version is discarded: the whole log is folded again.
    outdated = state["version"] != STATE_VERSION
    try:
        path = event.transcript_path or _keep(row, "transcript", str, "")
        reader = TranscriptReader(path, None if outdated else cursor)
    except UnreadableTranscript as problem:
        # The file is not written yet, or deleted: the saved state is all there is.
        if row is not None and row["is_damaged"]:
            state = _load_last_snapshot(store, event.session_id)
            return _Fold(state, UNKNOWN_FILE, changed=True, problem=str(problem))
        return _Fold(state, cursor, problem=str(problem))
    if reader.restarted or outdated:
        state = new_state()
        cursor = None
    if not state["place"] and event.cwd and not _logs_folder(event.host):
        state["place"] = {"root": event.cwd, "cwd": event.cwd}
    start_offset = reader.offset
    decoder = Decoder(cursor, reader.earlier_ids_loader())
    lines = reader.lines(stop=_until_tail(reader, stop), finished=finished)
    advance(state, merge_subagent_events(decoder.events(lines), path))
    changed = reader.restarted or outdated or reader.offset != start_offset or cursor is None
    folded = _Fold(
        state, {**reader.cursor(), **decoder.cursor()} if changed else cursor, changed=changed
    )
    if stop is not None and _is_before_tail(reader) and stop() and not reader.is_compressed:
        _add_tail(folded, reader, path)
    return folded


def _load_last_snapshot(store: Store, session: str) -> State:
    """Return the newest snapshot that can be read, or an empty state."""
    snapshots = store.snapshots(session, 1) or store.snapshots(session)
    return snapshots[0]["state"] if snapshots else new_state()


def _is_before_tail(reader: TranscriptReader) -> bool:
    return reader.size - reader.offset > TAIL_BYTES


def _until_tail(
    reader: TranscriptReader, stop: Callable[[], bool] | None
) -> Callable[[], bool] | None:
    """Return a function that stops the reader only where more than the tail is left."""
    return None if stop is None else lambda: _is_before_tail(reader) and stop()


def _add_tail(folded: _Fold, reader: TranscriptReader, path: str) -> None:
    """Fold the last lines of the log into the state that is shown; the one to save is a copy."""
    first_missing = reader.line + 1
    reader.skip_to(reader.size - TAIL_BYTES)
    if reader.line >= first_missing:
        folded.unread = (first_missing, reader.line)
        events = merge_subagent_events(Decoder().events(reader.lines()), path)
        folded.shown = fold(folded.state, events)
