"""Look up what is not in the brief: a line by its ref, or anything by its words."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from holdfast.actions import refs
from holdfast.actions.refs import Ref
from holdfast.brief.tokens import cost
from holdfast.errors import NotATranscript
from holdfast.index import texts
from holdfast.index.database import Index
from holdfast.index.excerpt import excerpt
from holdfast.index.ids import Range
from holdfast.index.rank import Found
from holdfast.index.search import ANYTHING, Filter, search
from holdfast.redact import redact

MOST_HITS = 20


class Hit(NamedTuple):
    """Something found: where it stands, and its exact text or the part of it that matters."""

    session: str
    line: int
    kind: str
    text: str
    tool: str = ""
    at: int = 0
    before: bool = False
    is_copy: bool = False
    """Whether the file it stood in is gone, so that the stored copy answers."""
    last: int = 0
    """The last of its lines, where it has more than one."""
    of_team: bool = False
    """Whether another machine sent it: nothing but this copy is at hand."""


class Answer(NamedTuple):
    hits: list[Hit]
    left_out: int
    """How many more there are that the budget does not hold."""
    notes: tuple[str, ...] = ()
    """What whoever asks should know about it."""


def at_ref(index: Index | None, session: str, path: str, ref: Ref, max_tokens: int) -> Answer:
    """Exactly the lines of a ref; where the file has lost them, what the index kept."""
    hits = _lines_of(session, path, ref) or [
        Hit(session, copy.line, copy.kind, copy.text, copy.tool, copy.at, is_copy=True)
        for copy in refs.copies(index, session, ref)
    ]
    if not hits:
        raise refs.missing(path, ref)
    return fitting(joined(hits) if ref.in_notes else hits, max_tokens, session)


def _lines_of(session: str, path: str, ref: Ref) -> list[Hit]:
    if ref.in_notes:
        return [Hit(session, line, "note", text) for line, text in refs.noted_lines(path, ref)]
    try:
        return [*_events(session, path, ref)]
    except NotATranscript:
        return []


def joined(hits: list[Hit]) -> list[Hit]:
    """Lines of the notes that follow each other are read as one."""
    made = hits[:1]
    for hit in hits[1:]:
        before = made[-1]
        if hit.line == max(before.line, before.last) + 1:
            made[-1] = before._replace(text=f"{before.text}\n{hit.text}", last=hit.line)
        else:
            made.append(hit)
    return made


def by_words(
    index: Index,
    query: str,
    scope: Range | None,
    max_tokens: int,
    *,
    only: Filter = ANYTHING,
    own: str = "",
) -> Answer:
    """The best hits that fit, without secrets, with the original lines around each."""
    return best([*hits_here(index, query, scope, only, own)], max_tokens, own)


def hits_here(
    index: Index, query: str, scope: Range | None, only: Filter, own: str
) -> Iterator[tuple[float, Hit]]:
    """What this machine knows, and how well it answers."""
    if scope is not None:
        is_gone = _gone(index)
        for piece in search(index, query, scope, only=only, own=own, most=3 * MOST_HITS):
            yield piece.score, as_hit(piece, is_copy=is_gone(piece))


def best(scored: list[tuple[float, Hit]], max_tokens: int, own: str = "") -> Answer:
    """The best of them that fit."""
    scored.sort(key=lambda one: one[0], reverse=True)
    hits: dict[tuple[str, str], Hit] = {}
    for _, hit in scored:
        # The same words at many places are one hit: the best of them.
        hits.setdefault((hit.kind, hit.text), hit)
    return fitting([*hits.values()][:MOST_HITS], max_tokens, own)


def printed(hit: Hit, own: str = "") -> str:
    """A hit as an agent is shown it; the budget is counted on this."""
    return f"{heading(hit, own)}\n{hit.text}\n"


def heading(hit: Hit, own: str = "") -> str:
    """Where a hit stands and what it is, in one line."""
    when = time.strftime("%Y-%m-%d %H:%M", time.gmtime(hit.at)) if hit.at else ""
    copy = "(stored copy)" if hit.is_copy else "(team's copy)" if hit.of_team else ""
    return " ".join(filter(None, [reference(hit, own), hit.kind, hit.tool, when, copy]))


def reference(hit: Hit, own: str = "") -> str:
    """A ref that opens this hit from the session that asks."""
    session = "" if hit.session == own else hit.session
    return str(Ref(session, hit.line, max(hit.line, hit.last), hit.kind == "note"))


def _events(session: str, path: str, ref: Ref) -> Iterator[Hit]:
    """The events of these lines as they stand in the transcript; a line without any, as it is."""
    for number, raw in refs.raw_lines(path, ref):
        told = [
            Hit(session, number, piece.kind, piece.text, piece.tool, piece.seconds)
            for piece in texts.whole_pieces(number, raw)
        ]
        yield from told or [Hit(session, number, "line", redact(raw.decode("utf-8", "replace")))]


def as_hit(piece: Found, *, is_copy: bool = False, of_team: bool = False) -> Hit:
    # A paragraph of notes has lines of its own; an event stands on one, however many it prints.
    lines = piece.text.count("\n") if piece.kind == "note" else 0
    return Hit(
        piece.session,
        piece.line,
        piece.kind,
        excerpt(piece.text, piece.place),
        piece.tool,
        piece.at,
        piece.before,
        is_copy,
        last=piece.line + lines if lines else 0,
        of_team=of_team,
    )


def _gone(index: Index) -> Callable[[Found], bool]:
    """Tells of a piece whether the file that it stood in is gone."""
    known: dict[tuple[str, str], bool] = {}

    def is_gone(piece: Found) -> bool:
        file = (piece.session, "notes" if piece.kind == "note" else "transcript")
        if file not in known:
            row = index.one(file[1], (piece.session,))
            known[file] = row is not None and not os.path.exists(row["path"])
        return known[file]

    return is_gone


def fitting(hits: list[Hit], max_tokens: int, own: str = "") -> Answer:
    """As many as the budget holds; the first is cut rather than left out."""
    room = float(max_tokens)
    kept: list[Hit] = []
    for hit in hits:
        if cost(printed(hit, own)) > room:
            if kept:
                break
            hit = _cut(hit, room, own)
        kept.append(hit)
        room -= cost(printed(hit, own))
    notes = [f"(stored copy): {refs.COPIED}"] if any(hit.is_copy for hit in kept) else []
    notes += [f"(team's copy): {refs.SENT}"] if any(hit.of_team for hit in kept) else []
    return Answer(kept, len(hits) - len(kept), tuple(notes))


def _cut(hit: Hit, room: float, own: str) -> Hit:
    """No longer than the room; of a budget for nothing at least the reference is left."""
    length = min(len(hit.text), int(4 * room))
    while length:
        shorter = hit._replace(text=hit.text[:length].rstrip() + "…")
        if cost(printed(shorter, own)) <= room:
            return shorter
        length = length * 9 // 10
    return hit._replace(text="…", tool="", at=0)
