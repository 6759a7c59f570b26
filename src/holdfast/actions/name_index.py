"""Keep the index of a session's names: brought up to date before a compaction, used after it."""

from __future__ import annotations

from holdfast.errors import NotATranscript

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from holdfast.names.model import Index
    from holdfast.store.base import Store

MARK = "names"
VERSION = 4
# What a host writes between the hook before a compaction and the one after it: a boundary, the
# summary, the hooks themselves. An index that is older than that is brought up to date first.
NEAR = 60


def update_names(
    store: Store, session: str, transcript: str, stop: Callable[[], bool] | None = None
) -> Index | None:
    """Read on from where the index ends, within the caller's transaction."""
    index, fresh = _read_on(_saved(store, session), transcript, stop)
    if fresh:
        store.set_mark(session, MARK, fresh, clean=True)
    return index


def index_apart(
    store: Store, session: str, transcript: str, stop: Callable[[], bool] | None = None
) -> None:
    """The same in a process of its own: nobody waits for the lock while it reads."""
    _, fresh = _read_on(_saved(store, session), transcript, stop)
    if fresh:
        store.begin()
        store.set_mark(session, MARK, fresh, clean=True)
        store.commit()


def _read_on(
    saved: dict[str, Any], transcript: str, stop: Callable[[], bool] | None
) -> tuple[Index | None, dict[str, Any]]:
    """The index after the new lines, and what is to be kept of it if there were any."""
    from holdfast.transcript.events import Decoder
    from holdfast.transcript.reader import Reader

    try:
        reader = Reader(transcript, saved.get("cursor"))
    except NotATranscript:
        return saved.get("index"), {}
    if reader.restarted:
        if reader.size < saved["cursor"]["offset"]:
            # A log that was cut does not make us forget.
            return saved["index"], {}
        saved = {}
    if not reader.has_more:
        return saved.get("index"), {}
    from holdfast.names.index import new_index, observe

    index: Index = saved.get("index") or new_index()
    decoder = Decoder(saved.get("cursor"), reader.earlier())
    observe(index, decoder.events(reader.lines(stop=stop)))
    cursor = {**reader.cursor(), **decoder.memory()}
    # Everything in it was looked over for secrets before it was taken apart.
    return index, {"version": VERSION, "cursor": cursor, "index": index}


def names_before(
    store: Store, session: str, transcript: str, line: int, stop: Callable[[], bool] | None = None
) -> Index | None:
    """The index up to about this line, without reading anything if it is there already."""
    saved = _saved(store, session)
    if saved and saved["cursor"].get("line", 0) >= line - NEAR:
        return saved["index"]  # type: ignore[no-any-return]
    return update_names(store, session, transcript, stop)


def _saved(store: Store, session: str) -> dict[str, Any]:
    saved = store.mark(session, MARK)
    return saved if saved.get("version") == VERSION else {}
