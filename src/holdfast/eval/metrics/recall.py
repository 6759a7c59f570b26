"""M1: how much of what was needed later a text says (FRR), in all, by class and by origin."""

from __future__ import annotations

from collections.abc import Callable

from holdfast.eval.entities import CLASSES, Entity
from holdfast.eval.matching import Said
from holdfast.eval.references import References


def recall(said: Said, references: References) -> dict[str, float]:
    weights = references.weights
    told = {entity for entity in weights if said.says(entity)}
    by_name = {one for one in weights if one in told or (one[0] == "P" and said.names_base(one[1]))}

    def share(found: set[Entity], wanted: Callable[[Entity], bool]) -> float | None:
        whole = sum(weight for entity, weight in weights.items() if wanted(entity))
        return sum(weights[one] for one in found if wanted(one)) / whole if whole else None

    memory = references.from_memory
    shares = {
        "frr": share(told, lambda _: True),
        "frr_basename": share(by_name, lambda _: True),
        "frr_memory": share(told, lambda entity: entity in memory),
        "frr_rediscovered": share(told, lambda entity: entity not in memory),
        **{f"frr_{kind}": share(told, lambda one, kind=kind: one[0] == kind) for kind in CLASSES},  # type: ignore[misc]
    }
    return {name: value for name, value in shares.items() if value is not None}
