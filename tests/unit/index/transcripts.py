"""Small transcripts for the index: what was said and done, one line each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from holdfast.index import ids
from holdfast.index.database import Index
from holdfast.index.fill import Source, fill
from holdfast.index.rank import Found
from holdfast.index.search import ANYTHING, Filter, search

NOW = 4_000_000_000.0
AT = "2026-11-15T10:00:00.000Z"


def said(text: str, role: str = "user", **more: Any) -> dict[str, Any]:
    content: Any = text if role == "user" else [{"type": "text", "text": text}]
    return {"type": role, "timestamp": AT, "message": {"role": role, "content": content}, **more}


def called(ident: str, name: str, **given: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "id": ident, "name": name, "input": given}
    return {"type": "assistant", "timestamp": AT, "message": {"content": [block]}}


def answered(ident: str, text: str) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": ident, "content": text}
    return {"type": "user", "timestamp": AT, "message": {"role": "user", "content": [block]}}


BOUNDARY = {"type": "system", "subtype": "compact_boundary", "compactMetadata": {"trigger": "auto"}}


def append(path: Path, *lines: dict[str, Any] | str) -> None:
    with path.open("a", encoding="utf-8") as file:
        for line in lines:
            file.write((line if isinstance(line, str) else json.dumps(line)) + "\n")


def filled(index: Index, path: Path, session: str = "s1", project: str = "/p") -> None:
    fill(index, Source(session, project, str(path)), NOW)


def lines(index: Index, query: str, only: Filter = ANYTHING, **options: Any) -> list[int]:
    """The lines found, best first."""
    return [piece.line for piece in found(index, query, only, **options)]


def found(index: Index, query: str, only: Filter = ANYTHING, **options: Any) -> list[Found]:
    scope = options.pop("scope", ids.EVERYTHING)
    return search(index, query, scope, only=only, **options)
