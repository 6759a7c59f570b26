"""Transcript lines for tests of the index."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from holdfast.search import document_ids
from holdfast.search.index_db import SearchIndex
from holdfast.search.ingest import Source, ingest_transcript
from holdfast.search.ranking import SearchResult
from holdfast.search.search import NO_FILTER, Filter, search

NOW = 4_000_000_000.0
TIMESTAMP = "2026-11-15T10:00:00.000Z"


def message_line(text: str, role: str = "user", **fields: Any) -> dict[str, Any]:
    content: Any = text if role == "user" else [{"type": "text", "text": text}]
    return {
        "type": role,
        "timestamp": TIMESTAMP,
        "message": {"role": role, "content": content},
        **fields,
    }


def tool_call_line(call_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "id": call_id, "name": name, "input": arguments}
    return {"type": "assistant", "timestamp": TIMESTAMP, "message": {"content": [block]}}


def tool_result_line(call_id: str, text: str) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": text}
    return {"type": "user", "timestamp": TIMESTAMP, "message": {"role": "user", "content": [block]}}


BOUNDARY = {"type": "system", "subtype": "compact_boundary", "compactMetadata": {"trigger": "auto"}}


def append(path: Path, *lines: dict[str, Any] | str) -> None:
    with path.open("a", encoding="utf-8") as file:
        for line in lines:
            file.write((line if isinstance(line, str) else json.dumps(line)) + "\n")


def ingest_file(index: SearchIndex, path: Path, session: str = "s1", project: str = "/p") -> None:
    ingest_transcript(index, Source(session, project, str(path)), NOW)


def find_lines(
    index: SearchIndex, query: str, filters: Filter = NO_FILTER, **options: Any
) -> list[int]:
    """Return the lines of the results, best first."""
    return [result.line for result in search_all(index, query, filters, **options)]


def search_all(
    index: SearchIndex, query: str, filters: Filter = NO_FILTER, **options: Any
) -> list[SearchResult]:
    scope = options.pop("scope", document_ids.ALL_IDS)
    return search(index, query, scope, filters=filters, **options)
