"""Rebuild the events of a session from the texts in an index, when its transcript is not here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from holdfast.search import document_ids
from holdfast.search.documents import FROM_SUBAGENT, KINDS
from holdfast.search.index_db import Row, decompress_text
from holdfast.transcript.types import Event

if TYPE_CHECKING:
    from holdfast.services.recall.refs import TextIndex

# A host reports a new file in these words, and otherwise only in the detail of the tool result.
CREATED_MESSAGE = "File created successfully"
# The arguments of a call that the fold looks at, beside the file path.
TEXT_ARGUMENTS, JSON_ARGUMENTS = ("command", "source", "destination"), ("changes",)
# Arguments that may follow a command of several lines.
TRAILING_ARGUMENTS = (
    "description|timeout|run_in_background|dangerouslyDisableSandbox|workdir|justification"
)
_VALUE = rf"^{{}}:(?: ([^\n]*)|\n(.*?)(?=\n(?:{TRAILING_ARGUMENTS}): |\Z))"
_LINE = r"^{}: ([^\n]*)"


def load_indexed_events(index: TextIndex, session: str, project: str) -> list[Event]:
    """Return the events of a session in line order; none if the index does not know it."""
    row = index.session(session)
    if row is None:
        return []
    documents = _select_main_thread(
        index.documents_between(*document_ids.transcript_range(row["number"]))
    )
    answered = {_call_key(document["call"], document) for document in documents if document["call"]}
    # Without `aside` a result does not name its call, so the outcome of calls is unknown.
    answered |= {
        _call_key(document_ids.line_number(document["id"]), document)
        for document in documents
        if document["aside"] is None
    }
    events = [event for document in documents for event in _to_events(document, answered)]
    events += _missing_compaction(row["compaction"], events)
    events.sort(key=lambda event: event["line"])
    place: Event = {"kind": "place", "line": 0, "place": {"cwd": project}}
    return [place, *events] if events else []


def _select_main_thread(documents: list[Row]) -> list[Row]:
    """Leave out what sub-agents did, and queued prompts that were sent later."""
    sent = {document["text"] for document in documents if not document["aside"]}
    return [
        document
        for document in documents
        if document["aside"] != FROM_SUBAGENT
        and (not document["aside"] or document["text"] not in sent)
    ]


def _missing_compaction(line: int, events: list[Event]) -> list[Event]:
    """Return an event for the last compaction if no summary was indexed at that line."""
    summary_lines = (line, line + 1)
    if not line or any(
        event["kind"] == "summary" and event["line"] in summary_lines for event in events
    ):
        return []
    return [{"kind": "compaction", "line": line}]


def _to_events(document: Row, answered: set[str]) -> Iterator[Event]:
    kind, line, text = (
        KINDS[document["kind"]],
        document_ids.line_number(document["id"]),
        decompress_text(document["text"]),
    )
    at = datetime.fromtimestamp(document["at"], UTC).isoformat() if document["at"] else ""
    if kind in ("prompt", "summary", "pull_request"):
        yield {"kind": kind, "line": line, "at": at, "text": text}  # type: ignore[typeddict-item]
    elif kind == "command":
        name, _, rest = text.partition(" ")
        yield {"kind": "command", "line": line, "at": at, "name": name, "text": rest}
    elif kind == "tool_call":
        call = _call_key(line, document)
        yield {"kind": "tool_call", "line": line, "at": at, "id": call,
               "name": document["tool"], "input": _parse_arguments(document, text)}  # fmt: skip
        if call not in answered and document["tool"] == "Bash":
            # A command without output left no result in the index. It succeeded: for one that
            # failed, the host writes a message.
            yield {"kind": "tool_result", "line": line, "at": at, "id": call, "ok": True,
                   "text": ""}  # fmt: skip
    elif kind == "tool_result" and document["ok"] is not None:
        detail = {"type": "create"} if text.startswith(CREATED_MESSAGE) else None
        call = _call_key(document["call"], document)
        yield {"kind": "tool_result", "line": line, "at": at, "id": call,
               "ok": bool(document["ok"]), "text": text, "detail": detail}  # fmt: skip


def _call_key(line: int, document: Row) -> str:
    """Return a key that a tool call and its result share."""
    return f"{line} {document['tool']} {document['file']}"


def _parse_arguments(document: Row, text: str) -> dict[str, Any]:
    """Read a call's arguments back from the text that the index made of them."""
    arguments: dict[str, Any] = {"file_path": document["file"]} if document["file"] else {}
    for name in TEXT_ARGUMENTS:
        if match := re.search(_VALUE.format(name), text, re.MULTILINE | re.DOTALL):
            arguments[name] = match[1] if match[1] is not None else match[2]
    for name in JSON_ARGUMENTS:
        if match := re.search(_LINE.format(name), text, re.MULTILINE):
            arguments[name] = _parse_json(match[1])
    return arguments


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        # The index leaves out the middle of a very long value, which is then no JSON.
        return None
