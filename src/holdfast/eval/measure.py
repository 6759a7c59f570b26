"""All figures of one text at one cut."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from holdfast.brief.tokens import estimate
from holdfast.eval.arms import BRIEF, Told
from holdfast.eval.baselines.material import Material
from holdfast.eval.chain import survival
from holdfast.eval.entities import Entity
from holdfast.eval.ground import Ground
from holdfast.eval.matching import Said
from holdfast.eval.metrics.artifacts import artifacts
from holdfast.eval.metrics.engineering import engineering
from holdfast.eval.metrics.errors import last_error
from holdfast.eval.metrics.instructions import retention
from holdfast.eval.metrics.precision import precision
from holdfast.eval.metrics.provenance import provenance
from holdfast.eval.metrics.recall import recall
from holdfast.eval.metrics.recovery import recovery
from holdfast.eval.metrics.staleness import staleness

# Lookups are slow; the brief of this size stands for the others.
LOOKED_UP = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Yardstick:
    """What the texts of one cut are held to."""

    material: Material
    truth: Ground | None  # none in a quick run
    seen: dict[Entity, int]
    lookup: Callable[[str], str] | None

    def figures(self, told: Told) -> dict[str, float]:
        session, needed = self.material.session, self.material.references
        said = Said(told.text, session.paths)
        written = told.added or told.text
        found = {
            **recall(said, needed),
            **precision(said, needed),
            "tokens": float(estimate(written)),
            "characters": float(len(written)),
        }
        if told.ours:
            found |= engineering(told, sum(len(piece.text) for piece in self.material.pieces))
        if self.truth is not None:
            found |= self._state(told, said, self.truth)
        return found

    def _state(self, told: Told, said: Said, truth: Ground) -> dict[str, float]:
        found = {
            **artifacts(said, truth.trail),
            **retention(said.text, truth.instructions),
            **staleness(said, truth),
            **last_error(said, truth.error),
            **survival(said, truth.references, self.seen, truth.cut),
        }
        if told.ours:
            found |= provenance(told.ours, truth.session)
        if told.method == BRIEF:
            lookup = self.lookup if told.budget == LOOKED_UP else None
            found |= recovery(said, truth.references, truth.session, lookup)
        return found
