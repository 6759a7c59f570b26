"""Find what was needed after a cut and known before it: the set G of docs/why/quality.md."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import log

from holdfast.eval.cuts import Cut
from holdfast.eval.entities import Entity
from holdfast.eval.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class References:
    """What is needed after a cut: `weights` is the set G with the weight of each entity."""

    weights: dict[Entity, float]
    from_memory: frozenset[Entity]  # those of G that the assistant itself named first after the cut
    known: frozenset[Entity]  # everything named before the cut


def find_references(session: Session, cut: Cut) -> References:
    known = frozenset().union(*(piece.names for piece in session.before(cut.line)))
    uses: Counter[Entity] = Counter()
    first_by: dict[Entity, str] = {}
    for piece in session.between(cut.first, cut.last):
        if piece.kind == "summary":
            continue
        for entity in piece.names:
            first_by.setdefault(entity, piece.kind)
        uses.update(piece.used)
    needed = sorted(entity for entity in uses if entity in known)
    return References(
        weights={entity: 1 + log(uses[entity]) for entity in needed},
        from_memory=frozenset(entity for entity in needed if first_by[entity] in ("reply", "call")),
        known=known,
    )
