"""Fold transcripts that were written before Holdfast was installed into the store."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.actions.catch_up import catch_up
from holdfast.actions.moment import seconds
from holdfast.errors import NotATranscript
from holdfast.hosts import claude_code
from holdfast.hosts.call import HookCall
from holdfast.store.base import Store
from holdfast.transcript.events import decode
from holdfast.transcript.reader import whole_file

# Codex packs the logs of sessions that have grown cold.
LOGS = (".jsonl", ".jsonl.zst")
# How far into a file to look for the session it belongs to.
HEAD = 200
# How much of its end, for when the last thing happened.
TAIL, STAMP = 1 << 18, re.compile(rb'"timestamp": ?"([^"]{10,40})"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    path: str
    session: str
    requests: int
    files: int
    compactions: int
    bad_lines: int


def transcripts(paths: list[str], *, packed: bool = False) -> list[str]:
    """The session files among these paths and below them; a sub-agent's own log is not one."""
    found: list[str] = []
    for path in paths:
        found.extend(_below(path, packed) if os.path.isdir(path) else [path])
    return list(dict.fromkeys(found))


def _below(folder: str, packed: bool) -> Iterator[str]:
    endings = (*LOGS, ".jsonl.gz") if packed else LOGS
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "subagents")
        for name in sorted(names):
            if name.endswith(endings) and not name.startswith("agent-"):
                yield os.path.join(here, name)


def recover(store: Store, path: str, now: float) -> Recovered:
    """One transcript into the store. Doing it twice changes nothing."""
    path = os.path.abspath(path)
    session, cwd, host = _who(path)
    call = HookCall(host=host, event="", session=session, transcript=path, cwd=cwd)
    known = store.session(session)
    then = max(min(now, _last_written(path)), known["seen_at"] if known else 0.0)
    state = catch_up(store, call, then, finished=True).state
    store.commit()
    return Recovered(
        path=path,
        session=session,
        requests=len(state["requests"]),
        files=len(state["files"]),
        compactions=len(state["compactions"]),
        bad_lines=len(state["bad_lines"]),
    )


def _last_written(path: str) -> float:
    """When the last thing happened that a transcript tells of."""
    with open(path, "rb") as file:
        there = os.fstat(file.fileno())
        file.seek(max(0, there.st_size - TAIL))
        stamps = STAMP.findall(file.read())
    return seconds(stamps[-1].decode("utf-8", "replace") if stamps else "", there.st_mtime)


def _who(path: str) -> tuple[str, str, str]:
    """The session, folder and host that a transcript tells of first."""
    for event in decode(whole_file(path, HEAD)):
        if event["kind"] == "place" and event["place"].get("session"):
            # A resumed session begins with lines of the old one: the file has the name of its own.
            name = os.path.basename(path).removesuffix(".jsonl")
            place = event["place"]
            session = name if _is_uuid(name) else place["session"]
            return session, place.get("cwd", ""), place.get("host", claude_code.NAME)
    raise NotATranscript(f"{path} holds no message of a session")


def _is_uuid(name: str) -> bool:
    return len(name) == 36 and [len(part) for part in name.split("-")] == [8, 4, 4, 4, 12]
