"""Read and write one session in the index: its row, its documents and their words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from holdfast.search import document_ids
from holdfast.search.documents import KINDS, Document
from holdfast.search.index_db import Row, SearchIndex, compress_text, decompress_text
from holdfast.search.ranking import SearchResult
from holdfast.search.tokenizer import to_indexed_text, to_storable

KIND_NUMBERS = {kind: number for number, kind in enumerate(KINDS)}
# The row of a transcript that was not read yet.
UNREAD_STATE: dict[str, Any] = {
    "cursor": "{}", "size": -1, "changed": 0, "calls": "{}", "compaction": 0,
}  # fmt: skip


def find_row(index: SearchIndex, session: str) -> Row | None:
    """Return the row of a session, or None if it is not indexed."""
    return index.fetch_one("transcript", (to_storable(session),))


def new_row(index: SearchIndex, session: str, project: str, path: str) -> Row:
    """Return a row with a new number for a session; the caller saves it."""
    project = to_storable(project)
    index.fetch_all("add_project", (project,))
    project_row = index.fetch_one("project", (project,))
    assert project_row is not None
    project_number = project_row["number"]
    last = index.fetch_one("last_number", document_ids.session_number_range(project_number))
    return {
        "number": document_ids.next_session_number(
            project_number, last["number"] if last else None
        ),
        "session": to_storable(session),
        "path": to_storable(path),
        **UNREAD_STATE,
        "documents": 0,
        "indexed": 0,
    }


def save_row(index: SearchIndex, row: Row) -> None:
    """Insert or update the row of a session."""
    index.fetch_all("save_transcript", row)


def add_documents(index: SearchIndex, row: Row, documents: Iterable[tuple[int, Document]]) -> None:
    """Add documents with their ids, and count them in the session's row."""
    document_rows: list[tuple[object, ...]] = []
    word_rows: list[tuple[object, ...]] = []
    for document_id, document in documents:
        text, file = to_storable(document.text), to_storable(document.file)
        row["indexed"] += len(text.encode("utf-8"))
        document_rows.append(
            (document_id, KIND_NUMBERS[document.kind], to_storable(document.tool), file,
             document.seconds, compress_text(text), document.call, document.ok, document.aside)
        )  # fmt: skip
        word_rows.append((document_id, *to_indexed_text(text, file)))
    index.execute_many("add_document", document_rows)
    index.execute_many("add_words", word_rows)
    row["documents"] += len(document_rows)


def remove_documents(index: SearchIndex, row: Row, ids: document_ids.IdRange) -> None:
    """Remove documents and their words, and subtract them in the session's row.

    The FTS5 table is contentless: it can delete an entry only when given the indexed text again.
    """
    word_rows: list[tuple[object, ...]] = []
    for document in index.fetch_all("documents_between", ids):
        text = decompress_text(document["text"])
        row["indexed"] -= len(text.encode("utf-8"))
        word_rows.append((document["id"], *to_indexed_text(text, document["file"])))
    index.execute_many("delete_words", word_rows)
    index.fetch_all("delete_documents", ids)
    row["documents"] -= len(word_rows)


def forget_session(index: SearchIndex, session: str) -> None:
    """Remove a session and its notes from the index."""
    row = find_row(index, session)
    if row is not None:
        remove_documents(index, row, document_ids.session_range(row["number"]))
        index.fetch_all("delete_notes", (row["number"],))
        index.fetch_all("delete_transcript", (row["number"],))


def to_search_result(row: Row) -> SearchResult:
    """Convert a stored document, joined with `session` and `compaction` of its session."""
    kind, line = KINDS[row["kind"]], document_ids.line_number(row["id"])
    return SearchResult(
        id=row["id"],
        session=row["session"],
        line=line,
        kind=kind,
        tool=row["tool"],
        at=row["at"],
        before_compaction=kind != "note" and line < row["compaction"],
        text=decompress_text(row["text"]),
    )
