"""What happened in a session whose transcript is not here, as far as an index's pieces tell it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from holdfast.index import ids
from holdfast.index.database import Row, unpack
from holdfast.index.texts import KINDS, OF_AGENT
from holdfast.transcript.model import Event

if TYPE_CHECKING:
    from holdfast.actions.refs import Keeper

# How a host's words tell of a new file, which otherwise only the detail of the result does.
CREATED = "File created successfully"
# What the fold looks at in a call, beside the file; and what may stand below a long command.
TEXTS, VALUES = ("command", "source", "destination"), ("changes",)
BELOW = "description|timeout|run_in_background|dangerouslyDisableSandbox|workdir|justification"
_VALUE = rf"^{{}}:(?: ([^\n]*)|\n(.*?)(?=\n(?:{BELOW}): |\Z))"
_LINE = r"^{}: ([^\n]*)"


def kept_events(index: Keeper, session: str, project: str) -> list[Event]:
    """The events of a session that the index kept; none if it knows nothing of it."""
    row = index.session(session)
    if row is None:
        return []
    pieces = _main_line(index.kept(*ids.of_lines(row["number"])))
    answered = {_call(piece["call"], piece) for piece in pieces if piece["call"]}
    # How calls ended is not known where nothing tells which result is whose.
    answered |= {_call(ids.line_of(one["id"]), one) for one in pieces if one["aside"] is None}
    told = [event for piece in pieces for event in _events(piece, answered)]
    told += _boundary(row["compaction"], told)
    told.sort(key=lambda event: event["line"])
    where: Event = {"kind": "place", "line": 0, "place": {"cwd": project}}
    return [where, *told] if told else []


def _main_line(pieces: list[Row]) -> list[Row]:
    """Without what sub-agents did, and without words that waited and were then said."""
    said = {piece["text"] for piece in pieces if not piece["aside"]}
    return [
        piece
        for piece in pieces
        if piece["aside"] != OF_AGENT and (not piece["aside"] or piece["text"] not in said)
    ]


def _boundary(line: int, told: list[Event]) -> list[Event]:
    """The last compaction, where its summary was not written down."""
    near = (line, line + 1)
    if not line or any(one["kind"] == "summary" and one["line"] in near for one in told):
        return []
    return [{"kind": "compaction", "line": line}]


def _events(piece: Row, answered: set[str]) -> Iterator[Event]:
    kind, line, text = KINDS[piece["kind"]], ids.line_of(piece["id"]), unpack(piece["text"])
    at = datetime.fromtimestamp(piece["at"], UTC).isoformat() if piece["at"] else ""
    if kind in ("prompt", "summary", "pull_request"):
        yield {"kind": kind, "line": line, "at": at, "text": text}  # type: ignore[typeddict-item]
    elif kind == "command":
        name, _, rest = text.partition(" ")
        yield {"kind": "command", "line": line, "at": at, "name": name, "text": rest}
    elif kind == "tool_call":
        call, given = _call(line, piece), _given(piece, text)
        yield {"kind": "tool_call", "line": line, "at": at, "id": call,
               "name": piece["tool"], "input": given}  # fmt: skip
        if call not in answered and piece["tool"] == "Bash":
            # A command that printed nothing left no piece; of one that failed the host says so.
            yield {"kind": "tool_result", "line": line, "at": at, "id": call, "ok": True,
                   "text": ""}  # fmt: skip
    elif kind == "tool_result" and piece["ok"] is not None:
        detail = {"type": "create"} if text.startswith(CREATED) else None
        yield {"kind": "tool_result", "line": line, "at": at, "id": _call(piece["call"], piece),
               "ok": bool(piece["ok"]), "text": text, "detail": detail}  # fmt: skip


def _call(line: int, piece: Row) -> str:
    """What a call and its result have in common."""
    return f"{line} {piece['tool']} {piece['file']}"


def _given(piece: Row, text: str) -> dict[str, Any]:
    """What a call was given, read back from the text that `texts.called` made of it."""
    given: dict[str, Any] = {"file_path": piece["file"]} if piece["file"] else {}
    for name in TEXTS:
        if found := re.search(_VALUE.format(name), text, re.MULTILINE | re.DOTALL):
            given[name] = found[1] if found[1] is not None else found[2]
    for name in VALUES:
        if found := re.search(_LINE.format(name), text, re.MULTILINE):
            given[name] = _decoded(found[1])
    return given


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        # A very long one was kept without its middle.
        return None
