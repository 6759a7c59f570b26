"""Cut by cut, what was needed later and is missing from the brief, so that a person can see why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.eval.arms import Folded, brief
from holdfast.eval.cuts import Cut
from holdfast.eval.entities import CLASSES, Entity
from holdfast.eval.matching import Said
from holdfast.eval.run import eligible
from holdfast.eval.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """One entity that the brief lacks, and where it was named last before the cut."""

    kind: str
    name: str
    weight: float
    from_memory: bool
    last_line: int
    last_in: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    arm: str
    line: int
    needed: int
    recall: float
    missing: tuple[Missing, ...]
    brief: str


def explain(session: Session, tokens: int) -> Iterator[Explained]:
    """Every cut of the session with a brief of this size; at a compaction, beside its summary."""
    folded = Folded(session.path)
    for cut, needed in eligible(session):
        told = brief(folded.until(cut.line), tokens, cut.summary)
        said = Said(told.text, session.paths)
        weights = needed.weights
        lacking = sorted(
            (one for one in weights if not said.says(one)), key=lambda one: (-weights[one], one)
        )
        last = _last_seen(session, cut, set(lacking))
        lost = sum(weights[one] for one in lacking)
        yield Explained(
            arm=cut.arm,
            line=cut.line,
            needed=len(weights),
            recall=1 - lost / sum(weights.values()),
            missing=tuple(
                Missing(
                    kind=CLASSES[one[0]],
                    name=one[1],
                    weight=weights[one],
                    from_memory=one in needed.from_memory,
                    last_line=last[one][0],
                    last_in=last[one][1],
                )
                for one in lacking
            ),
            brief=told.ours,
        )


def _last_seen(session: Session, cut: Cut, wanted: set[Entity]) -> dict[Entity, tuple[int, str]]:
    found: dict[Entity, tuple[int, str]] = {}
    for piece in session.before(cut.line):
        for entity in piece.names & wanted:
            found[entity] = (piece.line, piece.tool or piece.kind)
    return found
