"""Send what this machine has indexed of a session to the team: what is new, in small batches.

A piece is named by session, line and place, so it cannot be there twice; each batch notes how far
it came, so whoever was interrupted goes on from there.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from holdfast.index import ids
from holdfast.index.database import unpack
from holdfast.index.lexemes import in_order
from holdfast.index.words import storable
from holdfast.redact import redact

if TYPE_CHECKING:
    from holdfast.index.database import Index, Row
    from holdfast.index.team import TeamIndex

# So much is sent at once: nobody waits long for a lock, or loses much when the network goes.
AT_ONCE, BYTES_AT_ONCE = 200, 1 << 20
PUT = """\
INSERT INTO recall_pieces (id, project, at, call, kind, aside, ok, tool, file, text, words)
SELECT id, CAST(:project AS BIGINT), at, nullif(call, 0), kind, aside, ok, tool, file, text, words
FROM unnest(CAST(:ids AS BIGINT[]), CAST(:ats AS BIGINT[]), CAST(:calls AS INTEGER[]),
    CAST(:kinds AS SMALLINT[]), CAST(:asides AS SMALLINT[]), CAST(:oks AS BOOLEAN[]),
    CAST(:tools AS TEXT[]), CAST(:files AS TEXT[]), CAST(:texts AS BYTEA[]),
    CAST(:words AS TEXT[]))
    AS sent (id, at, call, kind, aside, ok, tool, file, text, words)
ON CONFLICT (id) DO NOTHING"""
_PROJECT = "INSERT INTO recall_projects (project) VALUES (:project) ON CONFLICT DO NOTHING"
_SESSION = (
    "INSERT INTO recall_sessions "
    "(session, project, compaction, pieces, sent, mark, notes, last_at) "
    "SELECT :session, number, 0, 0, 0, '', '', 0 FROM recall_projects "
    "WHERE project = :project ON CONFLICT (session) DO NOTHING"
)
_MOVE = (
    "UPDATE recall_pieces SET project = (SELECT number FROM recall_projects "
    "WHERE project = :project) WHERE id BETWEEN :low AND :high"
)
_ADOPT = (
    "UPDATE recall_sessions SET project = (SELECT number FROM recall_projects "
    "WHERE project = :project) WHERE session = :session"
)
_SAVE = (
    "UPDATE recall_sessions SET compaction = :compaction, pieces = :pieces, sent = :sent, "
    "mark = :mark, notes = :notes, last_at = :last_at WHERE number = :number"
)
_FORGET = "DELETE FROM recall_pieces WHERE id BETWEEN :low AND :high"


def send(
    index: Index,
    row: Row,
    team: TeamIndex,
    project: str,
    now: float,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[int, bool]:
    """How many pieces of a session were sent, and whether that was all that waited.

    `row` is the session's in the index here, with the stand of its notes (`noted`).
    """
    sending = _Sending(index, row, team, project, now)
    total = sending.notes()
    while some := sending.batch():
        total += some
        if stop():
            return total, False
    return total, True


class _Sending:
    """One session on its way."""

    def __init__(self, index: Index, row: Row, team: TeamIndex, project: str, now: float) -> None:
        self._index = index
        self._row = row
        self._team = team
        self._project = storable(project)
        self._now = now
        self._start = ids.of_session(row["number"])[0]

    def batch(self) -> int:
        """The next pieces of the transcript; how many."""
        with self._together() as there:
            if not self._goes_on(there):
                self._forget(there, ids.of_lines(there["number"]))
                there |= {"sent": 0, "mark": ""}
            some = self._next(there["sent"])
            self._put(there, some)
            if some:
                there["sent"] = some[-1]["id"] - self._start
                there["mark"] = _mark(some[-1])
            there["compaction"] = self._row["compaction"]
        return len(some)

    def notes(self) -> int:
        """All of the notes, if they are others than before: they change anywhere."""
        stand = self._row["noted"] or ""
        with self._together() as there:
            if there["notes"] == stand:
                return 0
            self._forget(there, ids.of_notes(there["number"]))
            some = self._pieces(ids.of_notes(self._row["number"]))
            self._put(there, some)
            there["notes"] = stand
        return len(some)

    @contextmanager
    def _together(self) -> Iterator[Row]:
        """What the team knows of the session; what becomes of it is kept with the pieces."""
        session = self._row["session"]
        self._team.database.begin(f"recall {session}")
        try:
            there = self._known(session)
            yield there
            self._team.ask(_SAVE, **there)
        except BaseException:
            self._team.database.rollback()
            raise
        self._team.database.commit()

    def _known(self, session: str) -> Row:
        self._team.ask(_PROJECT, project=self._project)
        self._team.ask(_SESSION, session=session, project=self._project)
        there = self._team.session(session)
        assert there is not None
        if there["project_id"] != self._project:
            low, high = ids.of_session(there["number"])
            self._team.ask(_MOVE, project=self._project, low=low, high=high)
            self._team.ask(_ADOPT, project=self._project, session=session)
            there = self._team.session(session)
            assert there is not None
        return there

    def _goes_on(self, there: Row) -> bool:
        """Whether what was sent last still stands where it stood; what is gone here stays there."""
        if not there["sent"] or not self._index.all("first_piece", self._lines()):
            return True
        at = self._start + there["sent"]
        return [_mark(one) for one in self._pieces((at, at))] == [there["mark"]]

    def _lines(self) -> ids.Range:
        return ids.of_lines(self._row["number"])

    def _next(self, sent: int) -> list[Row]:
        found = self._index.all("pieces_after", (self._start + sent, self._lines()[1], AT_ONCE))
        size = 0
        for count, piece in enumerate(found):
            size += len(piece["text"])
            if size > BYTES_AT_ONCE and count:
                return found[:count]
        return found

    def _pieces(self, between: ids.Range) -> list[Row]:
        return self._index.all("pieces_between", between)

    def _put(self, there: Row, pieces: list[Row]) -> None:
        if not pieces:
            return
        move = ids.of_session(there["number"])[0] - self._start
        texts = [_text(piece) for piece in pieces]
        files = [storable(redact(piece["file"])) for piece in pieces]
        values: dict[str, list[Any]] = {
            "ids": [piece["id"] + move for piece in pieces],
            "ats": [piece["at"] for piece in pieces],
            "calls": [piece["call"] for piece in pieces],
            "kinds": [piece["kind"] for piece in pieces],
            "asides": [piece["aside"] for piece in pieces],
            "oks": [None if piece["ok"] is None else bool(piece["ok"]) for piece in pieces],
            "tools": [piece["tool"] for piece in pieces],
            "files": files,
            "texts": [zlib.compress(text.encode(), 1) for text in texts],
            "words": [*map(in_order, texts, files)],
        }
        self._team.ask(PUT, project=there["project"], **values)
        there["pieces"] += len(pieces)
        # What says nothing of its time is as new as its arrival.
        there["last_at"] = max(there["last_at"], *(piece["at"] or self._now for piece in pieces))

    def _forget(self, there: Row, between: ids.Range) -> None:
        there["pieces"] -= self._team.database.run(
            _FORGET, {"low": between[0], "high": between[1]}
        )[1]


def _text(piece: Row) -> str:
    # It was redacted when it was indexed; what counts as a secret may have become more since.
    return storable(redact(unpack(piece["text"])))


def _mark(piece: Row) -> str:
    return hashlib.sha256(unpack(piece["text"]).encode("utf-8", "replace")).hexdigest()[:16]
