"""Fold transcripts from before Holdfast was installed into the store."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.errors import UnreadableTranscript
from holdfast.hosts import claude_code
from holdfast.hosts.hook_event import HookEvent
from holdfast.services.compaction.history import RECOVERED_MARK
from holdfast.services.compaction.ingest import ingest_transcript
from holdfast.services.compaction.report import count_lost
from holdfast.services.log_time import find_last_time
from holdfast.services.recall.lookup import is_uuid
from holdfast.store.protocols import Store
from holdfast.transcript.decoder import decode
from holdfast.transcript.reader import read_lines

# Codex compresses the logs of sessions that were not used for a while; people compress backups.
LOG_SUFFIXES = (".jsonl", ".jsonl.zst", ".jsonl.gz")
# The session of a file is named within its first lines.
MAX_HEAD_LINES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveredSession:
    """A session that was recovered from a transcript, with counts of what is in it."""

    path: str
    session: str
    requests: int
    files: int
    compactions: int
    bad_lines: int
    lost: int | None
    """How many items the summary of the last compaction lost; None if that is not known."""
    known: int | None
    """How many items were known before that compaction."""


def find_transcripts(paths: list[str]) -> list[str]:
    """Return the session files among these paths and below them, without sub-agents' logs.

    A compressed file is left out if it is there uncompressed as well.
    """
    files: list[str] = []
    for path in paths:
        files.extend(_walk(path) if os.path.isdir(path) else [path])
    return list(dict.fromkeys(files))


def _walk(folder: str) -> Iterator[str]:
    for current, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "subagents")
        for name in sorted(names):
            is_log = name.endswith(LOG_SUFFIXES) and not name.startswith("agent-")
            if is_log and (name.endswith(".jsonl") or _strip_suffix(name) + ".jsonl" not in names):
                yield os.path.join(current, name)


def _strip_suffix(name: str) -> str:
    return name.partition(".jsonl")[0]


def recover_session(store: Store, path: str, now: float) -> RecoveredSession:
    """Fold one transcript into the store. Running it twice changes nothing.

    Raises UnreadableTranscript if the file holds no message of a session, or if it is a copy of
    one that is recorded from another file.
    """
    path = os.path.abspath(path)
    session, cwd, host = _identify(path)
    event = HookEvent(host=host, name="", session_id=session, transcript_path=path, cwd=cwd)
    row = store.session(session)
    if row and row["transcript"] != path and os.path.exists(row["transcript"]):
        known = row["transcript"]
        raise UnreadableTranscript(f"{path} is a copy: session {session} is recorded from {known}")
    seen_at = max(min(now, find_last_time(path)), row["seen_at"] if row else 0.0)
    state = ingest_transcript(store, event, seen_at, finished=True).state
    if row is None:
        store.set_mark(session, RECOVERED_MARK, {"line": state["lines"]})
    store.commit()
    saved = store.session(session)
    lost, known_items = (saved and count_lost(saved, state)) or (None, None)
    return RecoveredSession(
        path=path,
        session=session,
        requests=len(state["requests"]),
        files=len(state["files"]),
        compactions=len(state["compactions"]),
        bad_lines=len(state["bad_lines"]),
        lost=lost,
        known=known_items,
    )


def _identify(path: str) -> tuple[str, str, str]:
    """Return session, folder and host from the first line of a transcript that names them."""
    for event in decode(read_lines(path, MAX_HEAD_LINES)):
        if event["kind"] == "place" and event["place"].get("session"):
            # A resumed session starts with lines of the old one; the file name is the new id.
            name = _strip_suffix(os.path.basename(path))
            place = event["place"]
            session = name if is_uuid(name) else place["session"]
            return session, place.get("cwd", ""), place.get("host", claude_code.NAME)
    raise UnreadableTranscript(f"{path} holds no message of a session")
