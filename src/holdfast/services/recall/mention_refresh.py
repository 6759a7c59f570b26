"""Keep the index of names that a session mentions.

It is updated before a compaction, and read when the brief is built after it.
"""

from __future__ import annotations

from holdfast.errors import UnreadableTranscript

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from holdfast.mentions.types import MentionIndex
    from holdfast.store.protocols import Store

MENTIONS_MARK = "names"
MENTIONS_VERSION = 4
# Between the hooks before and after a compaction, the host writes a boundary, the summary and a
# record of the hooks. An index that is further behind than that is updated first.
MAX_LINES_BEHIND = 60


def update_mentions(
    store: Store, session: str, transcript: str, stop: Callable[[], bool] | None = None
) -> MentionIndex | None:
    """Add the new lines of the transcript, within the caller's transaction; return the index."""
    index, mark = _index_new_lines(_load_mark(store, session), transcript, stop)
    if mark:
        store.set_mark(session, MENTIONS_MARK, mark, is_redacted=True)
    return index


def update_mentions_in_background(
    store: Store, session: str, transcript: str, stop: Callable[[], bool] | None = None
) -> None:
    """Do the same in a background process, which takes the database lock only to save."""
    _, mark = _index_new_lines(_load_mark(store, session), transcript, stop)
    if mark:
        store.begin()
        store.set_mark(session, MENTIONS_MARK, mark, is_redacted=True)
        store.commit()


def _index_new_lines(
    saved: dict[str, Any], transcript: str, stop: Callable[[], bool] | None
) -> tuple[MentionIndex | None, dict[str, Any]]:
    """Return the index after the new lines, and the mark to save (empty if nothing is new)."""
    from holdfast.transcript.decoder import Decoder
    from holdfast.transcript.reader import TranscriptReader

    try:
        reader = TranscriptReader(transcript, saved.get("cursor"))
    except UnreadableTranscript:
        return saved.get("index"), {}
    if reader.restarted:
        if reader.size < saved["cursor"]["offset"]:
            # The transcript was truncated: keep what is indexed.
            return saved["index"], {}
        saved = {}
    if not reader.has_more:
        return saved.get("index"), {}
    from holdfast.mentions.index import add_events, new_index

    index: MentionIndex = saved.get("index") or new_index()
    decoder = Decoder(saved.get("cursor"), reader.earlier_ids_loader())
    add_events(index, decoder.events(reader.lines(stop=stop)))
    cursor = {**reader.cursor(), **decoder.cursor()}
    # Secrets were redacted from every text before its names were extracted.
    return index, {"version": MENTIONS_VERSION, "cursor": cursor, "index": index}


def load_mentions_before(
    store: Store, session: str, transcript: str, line: int, stop: Callable[[], bool] | None = None
) -> MentionIndex | None:
    """Return the index up to about this line; reads the transcript only if it is behind."""
    saved = _load_mark(store, session)
    if saved and saved["cursor"].get("line", 0) >= line - MAX_LINES_BEHIND:
        return saved["index"]  # type: ignore[no-any-return]
    return update_mentions(store, session, transcript, stop)


def _load_mark(store: Store, session: str) -> dict[str, Any]:
    saved = store.mark(session, MENTIONS_MARK)
    return saved if saved.get("version") == MENTIONS_VERSION else {}
