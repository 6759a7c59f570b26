"""Where a session is cut in two: what a brief is made of, and what it is held to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.eval.session import Compaction, Session

PSEUDO, REAL = "pseudo", "real"
SHARE = 0.7
FEWEST_CALLS = 10
FEWEST_ENTITIES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Lines before `line` are known; those from `first` to `last` are what came after."""

    arm: str
    line: int
    first: int
    last: int
    number: int = 0  # how many compactions lie before
    summary: str = ""


def cuts(session: Session) -> list[Cut]:
    """All cuts with enough work after them, in the order of their lines."""
    found = [*pseudo_cuts(session), *real_cuts(session)]
    enough = [cut for cut in found if _calls_after(session, cut) >= FEWEST_CALLS]
    return sorted(enough, key=lambda cut: cut.line)


def pseudo_cuts(session: Session) -> Iterator[Cut]:
    """At 70 % of the tool calls of each span that no compaction interrupts."""
    for number, (first, last) in enumerate(_spans(session)):
        calls = [piece for piece in session.calls if first <= piece.line <= last]
        at = int(SHARE * len(calls))
        # Calls of one message stay together: their results come after all of them.
        while (
            0 < at < len(calls)
            and calls[at].message
            and (calls[at].message == calls[at - 1].message)
        ):
            at += 1
        if 0 < at < len(calls):
            line = calls[at].line
            yield Cut(arm=PSEUDO, line=line, first=line, last=last, number=number)


def real_cuts(session: Session) -> Iterator[Cut]:
    """At every compaction that the session went through."""
    for number, (compaction, (first, last)) in enumerate(
        zip(session.compactions, _spans(session)[1:], strict=True)
    ):
        yield Cut(
            arm=REAL,
            line=compaction.line,
            first=first,
            last=last,
            number=number,
            summary=compaction.summary,
        )


def _spans(session: Session) -> list[tuple[int, int]]:
    """First and last line between one compaction and the next."""
    starts = [1, *(each.summary_line + 1 for each in session.compactions)]
    ends = [*(_end(each) for each in session.compactions), session.lines]
    return list(zip(starts, ends, strict=True))


def _end(compaction: Compaction) -> int:
    return compaction.line - 1


def _calls_after(session: Session, cut: Cut) -> int:
    return sum(cut.first <= piece.line <= cut.last for piece in session.calls)
