"""Fold what the transcript holds beyond what the store knows, and keep it."""

from __future__ import annotations

import zlib

from holdfast import hosts
from holdfast.actions.project import project_of
from holdfast.errors import NotATranscript, StoreUnavailable
from holdfast.state.fold import VERSION as STATE_VERSION
from holdfast.state.fold import advance, new_state
from holdfast.transcript.events import decode
from holdfast.transcript.reader import Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.hosts.call import HookCall
    from holdfast.state.model import Compaction, State
    from holdfast.store.base import CompactionRow, SessionRow, Store
    from holdfast.transcript.model import Cursor

TRIES = 5


class Session:
    """A session whose state is as new as its transcript."""

    __slots__ = ("first_line", "id", "state")

    def __init__(self, ident: str, state: State, first_line: int) -> None:
        self.id = ident
        self.state = state
        self.first_line = first_line


def catch_up(
    store: Store, call: HookCall, now: float, stop: Callable[[], bool] | None = None
) -> Session:
    """Read on from where the last process stopped, and leave a transaction open for the caller.

    Folding needs no lock, so that a long transcript keeps nobody waiting; of two processes at
    once one saves first and the other reads on from there.
    """
    for _ in range(TRIES):
        row = store.session(call.session)
        state, cursor, changed = _read_on(row, call, stop)
        store.begin()
        if row is not None and not changed:
            return Session(call.session, state, row["first_line"])
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
            _note_receipts(store, call, state)
            return Session(call.session, state, row["first_line"] if row else state["lines"])
        store.rollback()
    raise StoreUnavailable(f"session {call.session} is being written by too many processes")


def _read_on(
    row: SessionRow | None, call: HookCall, stop: Callable[[], bool] | None
) -> tuple[State, Cursor | None, bool]:
    state = row["state"] if row else new_state()
    cursor = row["cursor"] if row else None
    if state["version"] != STATE_VERSION:
        # Whatever an older fold made of the log, the log can be folded again.
        state, cursor = new_state(), None
    try:
        reader = Reader(call.transcript or (row["transcript"] if row else ""), cursor)
    except NotATranscript:
        # Not written yet, or deleted: what was folded before is all there is.
        return state, cursor, False
    if reader.restarted:
        state = new_state()
    before = reader.offset
    advance(state, decode(reader.lines(stop=stop)))
    moved = reader.restarted or reader.offset != before or cursor is None
    return state, reader.cursor() if moved else cursor, moved


def _note_receipts(store: Store, call: HookCall, state: State) -> None:
    """The transcript is the witness: did the brief arrive, whole, once?"""
    for row in store.compactions(call.session)[-2:]:
        told = state["compactions"][row["ordinal"] - 1 : row["ordinal"]]
        if not row["brief_id"] or not told:
            continue
        receipt, line = receipt_of(row, told[0], state, call.host)
        if (receipt, line) != (row["receipt"], row["receipt_line"]):
            store.note_receipt(call.session, row["ordinal"], receipt, line)


def receipt_of(
    row: CompactionRow, told: Compaction, state: State, host_name: str
) -> tuple[str, int | None]:
    """whole, cut, twice, never, unproven (the client does not write it down) or pending."""
    arrived = [there for there in told["deliveries"] if there["id"] == row["brief_id"]]
    if len(arrived) > 1:
        return "twice", arrived[-1]["line"]
    if arrived:
        sent = (row["brief"] or "").strip()
        whole = zlib.crc32(sent.encode("utf-8", "replace")) == arrived[0]["checksum"]
        return ("whole" if whole else "cut"), arrived[0]["line"]
    if state["usage"]["line"] > max(row["brief_line"] or 0, told["line"]):
        return ("never" if _records_delivery(state, host_name) else "unproven"), None
    return "pending", None


def _records_delivery(state: State, host_name: str) -> bool:
    host, version = hosts.named(host_name), client_version(state)
    return host is None or version is None or version >= host.RECORDS_DELIVERY_SINCE


def client_version(state: State) -> tuple[int, ...] | None:
    """The host's version as its transcript tells it, if it is one."""
    numbers = state["place"].get("client", "").split(".")
    return tuple(map(int, numbers)) if all(part.isdigit() for part in numbers) else None
