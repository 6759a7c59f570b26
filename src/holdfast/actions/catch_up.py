"""Fold what the transcript holds beyond what the store knows, and keep it."""

from __future__ import annotations

from holdfast import hosts
from holdfast.actions.project import project_of
from holdfast.actions.receipt import note_receipts
from holdfast.errors import NotATranscript, StoreUnavailable
from holdfast.state.fold import VERSION as STATE_VERSION
from holdfast.state.fold import advance, new_state
from holdfast.transcript.agent_files import with_agents
from holdfast.transcript.events import Decoder
from holdfast.transcript.reader import Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.hosts.call import HookCall
    from holdfast.state.model import State
    from holdfast.store.base import SessionRow, Store
    from holdfast.transcript.model import Cursor

TRIES = 5


class Session:
    """A session whose state is as new as its transcript."""

    __slots__ = ("first_line", "id", "problem", "state")

    def __init__(self, ident: str, state: State, first_line: int, problem: str) -> None:
        self.id = ident
        self.state = state
        self.first_line = first_line
        """How many lines there were when Holdfast first saw it."""
        self.problem = problem
        """Why the transcript could not be read, if it could not."""


def catch_up(
    store: Store,
    call: HookCall,
    now: float,
    stop: Callable[[], bool] | None = None,
    *,
    finished: bool = False,
) -> Session:
    """Read on from where the last process stopped, and leave a transaction open for the caller.

    `finished` says that nobody writes to the transcript any more. Folding needs no lock, so that
    a long transcript keeps nobody waiting; of two processes at once one saves first and the other
    reads on from there.
    """
    for _ in range(TRIES):
        row = store.session(call.session)
        state, cursor, changed, problem = _read_on(row, call, stop, finished)
        first_line = row["first_line"] if row else state["lines"]
        session = Session(call.session, state, first_line, problem)
        store.begin()
        if row is not None and not changed:
            return session
        saved = store.save_session(
            session=call.session,
            host=call.host,
            project=row["project"] if row else project_of(call.cwd),
            transcript=call.transcript or (row["transcript"] if row else ""),
            cursor=cursor,
            state=state,
            revision=row["revision"] if row else 0,
            now=now,
        )
        if saved:
            note_receipts(store, call, state)
            return session
        store.rollback()
    raise StoreUnavailable(f"session {call.session} is being written by too many processes")


def _tells_folder(name: str) -> bool:
    """Where the log does not say which folder paths are told from, the hook does."""
    host = hosts.named(name)
    return host is None or host.TELLS_FOLDER


def _read_on(
    row: SessionRow | None, call: HookCall, stop: Callable[[], bool] | None, finished: bool
) -> tuple[State, Cursor | None, bool, str]:
    """The state and cursor after the new lines, whether they moved, and what went wrong."""
    state = row["state"] if row else new_state()
    cursor = row["cursor"] if row else None
    # Whatever an older fold made of the log, the log can be folded again.
    outdated = state["version"] != STATE_VERSION
    try:
        path = call.transcript or (row["transcript"] if row else "")
        reader = Reader(path, None if outdated else cursor)
    except NotATranscript as problem:
        # Not written yet, or deleted: what was folded before is all there is.
        return state, cursor, False, str(problem)
    if reader.restarted or outdated:
        state = new_state()
        cursor = None
    if not state["place"] and call.cwd and not _tells_folder(call.host):
        state["place"] = {"root": call.cwd, "cwd": call.cwd}
    before = reader.offset
    decoder = Decoder(cursor, reader.earlier())
    lines = reader.lines(stop=stop, finished=finished)
    advance(state, with_agents(decoder.events(lines), path))
    moved = reader.restarted or outdated or reader.offset != before or cursor is None
    return state, {**reader.cursor(), **decoder.memory()} if moved else cursor, moved, ""
