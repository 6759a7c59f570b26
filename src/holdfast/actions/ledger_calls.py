"""Tool calls of a transcript as actions of the ledger, from where the last reader stopped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from holdfast.actions.moment import seconds
from holdfast.errors import NotATranscript
from holdfast.ledger.actions import call_id, tool_type
from holdfast.ledger.from_state import agent_source
from holdfast.transcript.events import Decoder
from holdfast.transcript.model import Event
from holdfast.transcript.reader import Reader

# What of a call's input says what it was about, and how much of it is kept.
PATHS = ("file_path", "notebook_path", "path")
TELLING = ("command", "description", "pattern", "query", "url", "subagent_type")
LONGEST = 1000
MOST_OPEN = 100


def calls(
    session: str, transcript: str, memory: dict[str, Any], now: float
) -> Iterator[dict[str, Any]]:
    """Each call that has come back, as the arguments of `add_action`.

    `memory` is how far the last reader got, and afterwards how far this one did. Reading the same
    lines twice does no harm: a call's id is made of the host's own.
    """
    try:
        reader = Reader(transcript, memory.get("cursor"))
    except NotATranscript:
        return
    known = memory.get("cursor") if not reader.restarted else None
    waiting: dict[str, dict[str, Any]] = dict(memory.get("waiting", {})) if known else {}
    decoder = Decoder(known, reader.earlier())
    for event in decoder.events(reader.lines()):
        if event["kind"] == "tool_call":
            waiting[event["id"]] = _begun(session, event, now)
        elif event["kind"] == "tool_result" and event["id"] in waiting:
            yield _ended(waiting.pop(event["id"]), event, now)
    memory["cursor"] = {**reader.cursor(), **decoder.memory()}
    memory["waiting"] = dict(list(waiting.items())[-MOST_OPEN:])


def _begun(session: str, event: Event, now: float) -> dict[str, Any]:
    given = event["input"]
    return {
        "ident": call_id(session, event["id"]),
        "session": session,
        "tool_name": event["name"],
        "tool_type": tool_type(event["name"]),
        "given": {
            name: value[:LONGEST]
            for name in (*PATHS, *TELLING)
            if isinstance(value := given.get(name), str)
        },
        "file_paths": _paths(given),
        "metadata": {"line": event["line"], "agent": event.get("agent", "")},
        "parent": agent_source(session, event["parent"]) if event.get("parent") else "",
        "at": seconds(event.get("at", ""), now),
    }


def _paths(given: dict[str, Any]) -> list[str]:
    """The file that a call is about; a patch is about several, of which the first is its path."""
    named = [given.get(name) for name in PATHS]
    changes = given.get("changes")
    if isinstance(changes, list):
        named += [change.get("path") for change in changes if isinstance(change, dict)]
    return list(dict.fromkeys(path for path in named if isinstance(path, str) and path))


def _ended(call: dict[str, Any], event: Event, now: float) -> dict[str, Any]:
    took = max(0.0, seconds(event.get("at", ""), now) - call["at"])
    return {**call, "exit_code": 0 if event["ok"] else 1, "duration_ms": int(took * 1000)}
