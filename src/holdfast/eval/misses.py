"""Find what was needed later and is missing from the brief, cut by cut (`--explain`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.eval.cuts import Cut
from holdfast.eval.entities import CLASSES, Entity
from holdfast.eval.matching import TextMatcher
from holdfast.eval.methods import FoldedSession, build_brief_candidate
from holdfast.eval.run import find_scorable_cuts
from holdfast.eval.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """One entity that the brief lacks, and where it was named last before the cut."""

    kind: str
    name: str
    weight: float
    from_memory: bool
    last_line: int
    last_in: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CutMisses:
    arm: str
    line: int
    needed: int
    recall: float
    missing: tuple[Miss, ...]
    brief: str


def find_misses(session: Session, tokens: int) -> Iterator[CutMisses]:
    """Yield what a brief of this size misses at each cut; at compactions, beside the summary."""
    folded = FoldedSession(session.path)
    for cut, needed in find_scorable_cuts(session):
        candidate = build_brief_candidate(folded.fold_until(cut.line), tokens, cut.summary)
        matcher = TextMatcher(candidate.text, session.paths)
        weights = needed.weights
        missing = sorted(
            (entity for entity in weights if not matcher.mentions(entity)),
            key=lambda entity: (-weights[entity], entity),
        )
        last = _find_last_mentions(session, cut, set(missing))
        missing_weight = sum(weights[entity] for entity in missing)
        yield CutMisses(
            arm=cut.arm,
            line=cut.line,
            needed=len(weights),
            recall=1 - missing_weight / sum(weights.values()),
            missing=tuple(
                Miss(
                    kind=CLASSES[entity[0]],
                    name=entity[1],
                    weight=weights[entity],
                    from_memory=entity in needed.from_memory,
                    last_line=last[entity][0],
                    last_in=last[entity][1],
                )
                for entity in missing
            ),
            brief=candidate.ours,
        )


def _find_last_mentions(
    session: Session, cut: Cut, wanted: set[Entity]
) -> dict[Entity, tuple[int, str]]:
    """Return the line, and the tool or kind of text, that named each entity last."""
    last: dict[Entity, tuple[int, str]] = {}
    for piece in session.before(cut.line):
        for entity in piece.names & wanted:
            last[entity] = (piece.line, piece.tool or piece.kind)
    return last
