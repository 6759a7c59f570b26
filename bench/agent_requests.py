"""What agents send, each time a little different, so that nothing can be remembered."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from http.client import HTTPConnection
from itertools import count
from typing import Any

from bench.load import request

SESSIONS = 50
# Sessions for restores of which none comes twice, and how often each was saved.
OTHERS, SAVED = 1000, 3
SAME, ANOTHER = "restore, the same again", "restore, each another's"
# A snapshot says mostly what the last one said; and one that says nothing that was ever said.
SAVE, NEW_SAVE = "POST compact/save (7 KB)", "save, every word new"
SNAPSHOT = {
    "session_id": "s1",
    "trigger": "auto",
    "context_summary": "Working on authentication",
    "key_decisions": [f"decision {number}: " + "x" * 60 for number in range(80)],
}
_numbers = count()
# Where a number is to stand; all of them are as long.
PLACE = 10**9


def action() -> dict[str, Any]:
    number = next(_numbers)
    return {
        "tool_name": "Write", "session_id": f"s{number % SESSIONS}", "exit_code": 0,
        "file_paths": [f"/app/src/module_{number}.php"],
    }  # fmt: skip


def snapshot() -> dict[str, Any]:
    """7 KB."""
    return {**SNAPSHOT, "number": next(_numbers)}


def other_sessions(port: int) -> None:
    """Save them all."""
    with closing(HTTPConnection("127.0.0.1", port)) as connection:
        for number in range(OTHERS * SAVED):
            body = {**snapshot(), "session_id": f"other-{number % OTHERS}"}
            sent = json.dumps(body), {"Content-Type": "application/json"}
            connection.request("POST", "/api/compact/save", *sent)
            connection.getresponse().read()


def another_restore() -> dict[str, Any]:
    """Of one session after the other, and the next time round a little shorter."""
    number = next(_numbers)
    tokens = 2000 - number // OTHERS % 1000
    return {"session_id": f"other-{number % OTHERS}", "agent_type": "dev", "max_tokens": tokens}


def _numbered(words: bytes) -> bytes:
    """With another number in each place for one."""
    return words.replace(b"%d" % PLACE, b"%d" % (PLACE + next(_numbers)))


def jobs(port: int) -> dict[str, Callable[[], bytes]]:
    """Requests by their title; making one costs next to nothing."""
    save = request(port, "POST", "/api/compact/save", {**SNAPSHOT, "number": PLACE})
    words = [f"decision {PLACE}: {'x' * 60} {number}" for number in range(80)]
    new = request(port, "POST", "/api/compact/save", {**SNAPSHOT, "key_decisions": words})
    restore = {"session_id": "s1", "agent_type": "orchestrator", "max_tokens": 2000}
    same = request(port, "POST", "/api/compact/restore", restore)
    health = request(port, "GET", "/health")
    return {
        "GET /health": lambda: health,
        "POST actions": lambda: request(port, "POST", "/api/actions", action()),
        SAVE: lambda: _numbered(save),
        NEW_SAVE: lambda: _numbered(new),
        "save, the same again": lambda: save,
        SAME: lambda: same,
        ANOTHER: lambda: request(port, "POST", "/api/compact/restore", another_restore()),
    }


# What a driver inserts beside each of these.
BODIES = {
    "POST actions": json.dumps(action()),
    SAVE: json.dumps(SNAPSHOT),
    NEW_SAVE: json.dumps(SNAPSHOT),
}
