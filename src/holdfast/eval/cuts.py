"""Cuts of a session: lines before a cut make the brief, lines after it score the brief.

A real cut is a compaction of the session. A pseudo-cut is a place between compactions, where the
agent kept its context.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.eval.session import Session

PSEUDO, REAL = "pseudo", "real"
PSEUDO_CUT_SHARE = 0.7
# A cut with fewer calls, or fewer needed entities, after it is not scored.
MIN_CALLS_AFTER = 10
MIN_NEEDED_ENTITIES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Lines before `line` are known; those from `first` to `last` show what was needed."""

    arm: str
    line: int
    first: int
    last: int
    number: int = 0  # compactions before it
    summary: str = ""


def find_cuts(session: Session) -> list[Cut]:
    """Return all cuts with enough calls after them, in the order of their lines."""
    cuts = [*find_pseudo_cuts(session), *find_real_cuts(session)]
    scorable = [cut for cut in cuts if _count_calls_after(session, cut) >= MIN_CALLS_AFTER]
    return sorted(scorable, key=lambda cut: cut.line)


def find_pseudo_cuts(session: Session) -> Iterator[Cut]:
    """Yield a cut at 70 % of the tool calls of each span between compactions."""
    for number, (first, last) in enumerate(_find_spans(session)):
        calls = [piece for piece in session.calls if first <= piece.line <= last]
        at = int(PSEUDO_CUT_SHARE * len(calls))
        # Calls of one message stay together: their results come after all of them.
        while (
            0 < at < len(calls)
            and calls[at].message_id
            and calls[at].message_id == calls[at - 1].message_id
        ):
            at += 1
        if 0 < at < len(calls):
            line = calls[at].line
            yield Cut(arm=PSEUDO, line=line, first=line, last=last, number=number)


def find_real_cuts(session: Session) -> Iterator[Cut]:
    """Yield a cut at every compaction of the session."""
    for number, (compaction, (first, last)) in enumerate(
        zip(session.compactions, _find_spans(session)[1:], strict=True)
    ):
        yield Cut(
            arm=REAL,
            line=compaction.line,
            first=first,
            last=last,
            number=number,
            summary=compaction.summary,
        )


def _find_spans(session: Session) -> list[tuple[int, int]]:
    """Return the first and last line of each span between compactions."""
    starts = [1, *(compaction.summary_line + 1 for compaction in session.compactions)]
    ends = [*(compaction.line - 1 for compaction in session.compactions), session.lines]
    return list(zip(starts, ends, strict=True))


def _count_calls_after(session: Session, cut: Cut) -> int:
    return sum(cut.first <= piece.line <= cut.last for piece in session.calls)
