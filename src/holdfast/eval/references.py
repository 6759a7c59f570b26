"""What was needed after a cut and known before it: the set G, with weights."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import log

from holdfast.eval.cuts import Cut
from holdfast.eval.entities import Entity
from holdfast.eval.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class References:
    """`weights` is G; `from_memory` are those that the assistant itself named first."""

    weights: dict[Entity, float]
    from_memory: frozenset[Entity]
    known: frozenset[Entity]  # everything named before the cut


def references(session: Session, cut: Cut) -> References:
    known = frozenset().union(*(piece.names for piece in session.before(cut.line)))
    uses: Counter[Entity] = Counter()
    first_by: dict[Entity, str] = {}
    for piece in session.between(cut.first, cut.last):
        if piece.kind == "summary":
            continue
        for entity in piece.names:
            first_by.setdefault(entity, piece.kind)
        uses.update(piece.used)
    wanted = sorted(entity for entity in uses if entity in known)
    return References(
        weights={entity: 1 + log(uses[entity]) for entity in wanted},
        from_memory=frozenset(one for one in wanted if first_by[one] in ("reply", "call")),
        known=known,
    )
