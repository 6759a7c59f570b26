"""Push the documents that this machine has indexed to the team, in small batches.

A document's id contains session, line and position, so it cannot be stored twice. Each batch saves
how far it got, so an interrupted push continues from there.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from holdfast.redaction import redact
from holdfast.search import document_ids
from holdfast.search.index_db import decompress_text
from holdfast.search.pg_tokenizer import to_word_sequence
from holdfast.search.tokenizer import to_storable

if TYPE_CHECKING:
    from holdfast.search.index_db import Row, SearchIndex
    from holdfast.search.team_index import TeamIndex

# Limits of one batch, so that other writers do not wait long for the lock, and little is lost when
# the network fails.
BATCH_DOCUMENTS, BATCH_BYTES = 200, 1 << 20
INSERT_DOCUMENTS = """\
INSERT INTO recall_documents (id, project, at, call, kind, aside, ok, tool, file, text, words)
SELECT id, CAST(:project AS BIGINT), at, nullif(call, 0), kind, aside, ok, tool, file, text, words
FROM unnest(CAST(:ids AS BIGINT[]), CAST(:ats AS BIGINT[]), CAST(:calls AS INTEGER[]),
    CAST(:kinds AS SMALLINT[]), CAST(:asides AS SMALLINT[]), CAST(:oks AS BOOLEAN[]),
    CAST(:tools AS TEXT[]), CAST(:files AS TEXT[]), CAST(:texts AS BYTEA[]),
    CAST(:words AS TEXT[]))
    AS sent (id, at, call, kind, aside, ok, tool, file, text, words)
ON CONFLICT (id) DO NOTHING"""
_INSERT_PROJECT = "INSERT INTO recall_projects (project) VALUES (:project) ON CONFLICT DO NOTHING"
_INSERT_SESSION = (
    "INSERT INTO recall_sessions "
    "(session, project, compaction, documents, sent, mark, notes, last_at) "
    "SELECT :session, number, 0, 0, 0, '', '', 0 FROM recall_projects "
    "WHERE project = :project ON CONFLICT (session) DO NOTHING"
)
_MOVE_DOCUMENTS = (
    "UPDATE recall_documents SET project = (SELECT number FROM recall_projects "
    "WHERE project = :project) WHERE id BETWEEN :low AND :high"
)
_MOVE_SESSION = (
    "UPDATE recall_sessions SET project = (SELECT number FROM recall_projects "
    "WHERE project = :project) WHERE session = :session"
)
_UPDATE_SESSION = (
    "UPDATE recall_sessions SET compaction = :compaction, documents = :documents, sent = :sent, "
    "mark = :mark, notes = :notes, last_at = :last_at WHERE number = :number"
)
_DELETE_DOCUMENTS = "DELETE FROM recall_documents WHERE id BETWEEN :low AND :high"


def push_session(
    index: SearchIndex,
    row: Row,
    team: TeamIndex,
    project: str,
    now: float,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[int, bool]:
    """Push the new documents of a session; return how many, and whether those were all.

    `row` is the session's row of the statement `session_states`. `stop` is called after each batch.
    """
    push = _SessionPush(index, row, team, project, now)
    total = push.push_notes()
    while count := push.push_batch():
        total += count
        if stop():
            return total, False
    return total, True


class _SessionPush:
    """The push of one session. `local` rows are of this machine's index, `remote` of the team's."""

    def __init__(
        self, index: SearchIndex, row: Row, team: TeamIndex, project: str, now: float
    ) -> None:
        self._index = index
        self._local = row
        self._team = team
        self._project = to_storable(project)
        self._now = now
        self._first_id = document_ids.session_range(row["number"])[0]

    def push_batch(self) -> int:
        """Push the next documents of the transcript; return how many."""
        with self._transaction() as remote:
            if not self._is_continuation(remote):
                self._delete(remote, document_ids.transcript_range(remote["number"]))
                remote |= {"sent": 0, "mark": ""}
            documents = self._next_batch(remote["sent"])
            self._insert(remote, documents)
            if documents:
                remote["sent"] = documents[-1]["id"] - self._first_id
                remote["mark"] = _digest(documents[-1])
            remote["compaction"] = self._local["compaction"]
        return len(documents)

    def push_notes(self) -> int:
        """Replace the notes if they have changed: they can change anywhere. Return how many."""
        version = self._local["notes_version"] or ""
        with self._transaction() as remote:
            if remote["notes"] == version:
                return 0
            self._delete(remote, document_ids.notes_range(remote["number"]))
            documents = self._documents(document_ids.notes_range(self._local["number"]))
            self._insert(remote, documents)
            remote["notes"] = version
        return len(documents)

    @contextmanager
    def _transaction(self) -> Iterator[Row]:
        """Yield the session's row in the team's index; save the changed row with the documents."""
        session = self._local["session"]
        self._team.database.begin(f"recall {session}")
        try:
            remote = self._get_or_create(session)
            yield remote
            self._team.fetch_all(_UPDATE_SESSION, **remote)
        except BaseException:
            self._team.database.rollback()
            raise
        self._team.database.commit()

    def _get_or_create(self, session: str) -> Row:
        """Return the session's row; move the session if its project has another id now."""
        self._team.fetch_all(_INSERT_PROJECT, project=self._project)
        self._team.fetch_all(_INSERT_SESSION, session=session, project=self._project)
        remote = self._team.session(session)
        assert remote is not None
        if remote["project_id"] != self._project:
            low, high = document_ids.session_range(remote["number"])
            self._team.fetch_all(_MOVE_DOCUMENTS, project=self._project, low=low, high=high)
            self._team.fetch_all(_MOVE_SESSION, project=self._project, session=session)
            remote = self._team.session(session)
            assert remote is not None
        return remote

    def _is_continuation(self, remote: Row) -> bool:
        """Return whether the document that was pushed last is unchanged in the local index.

        Also true if this machine no longer has the transcript: then the team keeps its copy.
        """
        if not remote["sent"] or not self._index.fetch_all("first_document", self._transcript()):
            return True
        last_id = self._first_id + remote["sent"]
        documents = self._documents((last_id, last_id))
        return [_digest(document) for document in documents] == [remote["mark"]]

    def _transcript(self) -> document_ids.IdRange:
        return document_ids.transcript_range(self._local["number"])

    def _next_batch(self, sent: int) -> list[Row]:
        values = (self._first_id + sent, self._transcript()[1], BATCH_DOCUMENTS)
        documents = self._index.fetch_all("documents_after", values)
        size = 0
        for count, document in enumerate(documents):
            size += len(document["text"])
            if size > BATCH_BYTES and count:
                return documents[:count]
        return documents

    def _documents(self, ids: document_ids.IdRange) -> list[Row]:
        return self._index.fetch_all("documents_between", ids)

    def _insert(self, remote: Row, documents: list[Row]) -> None:
        if not documents:
            return
        offset = document_ids.session_range(remote["number"])[0] - self._first_id
        texts = [_redacted_text(document) for document in documents]
        files = [to_storable(redact(document["file"])) for document in documents]
        values: dict[str, list[Any]] = {
            "ids": [document["id"] + offset for document in documents],
            "ats": [document["at"] for document in documents],
            "calls": [document["call"] for document in documents],
            "kinds": [document["kind"] for document in documents],
            "asides": [document["aside"] for document in documents],
            "oks": [None if (ok := document["ok"]) is None else bool(ok) for document in documents],
            "tools": [document["tool"] for document in documents],
            "files": files,
            "texts": [zlib.compress(text.encode(), 1) for text in texts],
            "words": [*map(to_word_sequence, texts, files)],
        }
        self._team.fetch_all(INSERT_DOCUMENTS, project=remote["project"], **values)
        remote["documents"] += len(documents)
        # A document without a time gets the time of its arrival.
        times = (document["at"] or self._now for document in documents)
        remote["last_at"] = max(remote["last_at"], *times)

    def _delete(self, remote: Row, ids: document_ids.IdRange) -> None:
        values = {"low": ids[0], "high": ids[1]}
        remote["documents"] -= self._team.database.run(_DELETE_DOCUMENTS, values)[1]


def _redacted_text(document: Row) -> str:
    # It was redacted when it was indexed, but perhaps by a version that knew fewer secrets.
    return to_storable(redact(decompress_text(document["text"])))


def _digest(document: Row) -> str:
    text = decompress_text(document["text"])
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
