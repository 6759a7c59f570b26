"""Fold transcripts from before Holdfast was installed into the store."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.errors import UnreadableTranscript
from holdfast.hosts import claude_code
from holdfast.hosts.hook_event import HookEvent
from holdfast.services.compaction.history import RECOVERED_MARK
from holdfast.services.compaction.ingest import ingest_transcript
from holdfast.services.recall.lookup import is_uuid
from holdfast.services.time_parsing import parse_timestamp
from holdfast.store.protocols import Store
from holdfast.transcript.decoder import decode
from holdfast.transcript.reader import read_lines

# Codex compresses the logs of sessions that were not used for a while.
LOG_SUFFIXES = (".jsonl", ".jsonl.zst")
# The session of a file is named within its first lines.
MAX_HEAD_LINES = 200
# The part of a file's end that is searched for the last timestamp.
TAIL_BYTES, TIMESTAMP = 1 << 18, re.compile(rb'"timestamp": ?"([^"]{10,40})"')


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveredSession:
    """A session that was recovered from a transcript, with counts of what is in it."""

    path: str
    session: str
    requests: int
    files: int
    compactions: int
    bad_lines: int


def find_transcripts(paths: list[str], *, packed: bool = False) -> list[str]:
    """Return the session files among these paths and below them, without sub-agents' logs.

    With `packed`, also those that are compressed with gzip.
    """
    files: list[str] = []
    for path in paths:
        files.extend(_walk(path, packed) if os.path.isdir(path) else [path])
    return list(dict.fromkeys(files))


def _walk(folder: str, packed: bool) -> Iterator[str]:
    suffixes = (*LOG_SUFFIXES, ".jsonl.gz") if packed else LOG_SUFFIXES
    for current, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "subagents")
        for name in sorted(names):
            if name.endswith(suffixes) and not name.startswith("agent-"):
                yield os.path.join(current, name)


def recover_session(store: Store, path: str, now: float) -> RecoveredSession:
    """Fold one transcript into the store. Running it twice changes nothing.

    Raises UnreadableTranscript if the file holds no message of a session.
    """
    path = os.path.abspath(path)
    session, cwd, host = _identify(path)
    event = HookEvent(host=host, name="", session_id=session, transcript_path=path, cwd=cwd)
    row = store.session(session)
    seen_at = max(min(now, _last_timestamp(path)), row["seen_at"] if row else 0.0)
    state = ingest_transcript(store, event, seen_at, finished=True).state
    if row is None:
        store.set_mark(session, RECOVERED_MARK, {"line": state["lines"]})
    store.commit()
    return RecoveredSession(
        path=path,
        session=session,
        requests=len(state["requests"]),
        files=len(state["files"]),
        compactions=len(state["compactions"]),
        bad_lines=len(state["bad_lines"]),
    )


def _last_timestamp(path: str) -> float:
    """Return the time of the last event in a transcript, or else the file's own time."""
    with open(path, "rb") as file:
        status = os.fstat(file.fileno())
        file.seek(max(0, status.st_size - TAIL_BYTES))
        timestamps = TIMESTAMP.findall(file.read())
    return parse_timestamp(
        timestamps[-1].decode("utf-8", "replace") if timestamps else "", status.st_mtime
    )


def _identify(path: str) -> tuple[str, str, str]:
    """Return session, folder and host from the first line of a transcript that names them."""
    for event in decode(read_lines(path, MAX_HEAD_LINES)):
        if event["kind"] == "place" and event["place"].get("session"):
            # A resumed session starts with lines of the old one; the file name is the new id.
            name = os.path.basename(path).removesuffix(".jsonl")
            place = event["place"]
            session = name if is_uuid(name) else place["session"]
            return session, place.get("cwd", ""), place.get("host", claude_code.NAME)
    raise UnreadableTranscript(f"{path} holds no message of a session")
