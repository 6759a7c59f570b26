"""Briefs that are nothing but names: an anchor index, a dump of everything, and the oracle."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import log
from posixpath import basename, dirname

from holdfast.eval.baselines.material import Material
from holdfast.eval.budget import Budget
from holdfast.eval.entities import Entity
from holdfast.eval.matching import Said

KIND = {"P": 3.0, "C": 1.5, "U": 1.0, "I": 1.0}
SOURCE = {"call": 3.0, "prompt": 2.0, "reply": 2.0, "note": 1.0, "result": 1.0}
HALF_LIFE = 60  # in pieces of the conversation


def anchors(material: Material, budget: Budget) -> str:
    """Names from tool inputs and from what was said."""
    return budget.most(ranked(material, results=False), flat_list)


def dump(material: Material, budget: Budget) -> str:
    """Those, and the names in tool results."""
    return budget.most(ranked(material, results=True), flat_list)


def grouped_dump(material: Material, budget: Budget) -> str:
    """The same with files under their folders."""
    return budget.most(ranked(material, results=True), by_folder)


def lacking(material: Material, budget: Budget) -> str:
    """Only the names that the host's summary does not say."""
    told = Said(material.cut.summary, material.session.paths)
    missing = [entity for entity in ranked(material, results=True) if not told.says(entity)]
    return budget.most(missing, flat_list)


def oracle(material: Material, budget: Budget) -> str:
    """Exactly what will be needed: the ceiling."""
    weights = material.references.weights
    best = sorted(weights, key=lambda entity: (-weights[entity] / (len(entity[1]) + 1), entity))
    return budget.most(best, flat_list)


def ranked(material: Material, *, results: bool) -> list[Entity]:
    """By kind, by where it was named, by how recently and how often: weights set by hand."""
    name = "with results" if results else "without results"
    if name not in material.rankings:
        material.rankings[name] = _ranked(material, results)
    return material.rankings[name]


def _ranked(material: Material, results: bool) -> list[Entity]:
    value: dict[Entity, float] = defaultdict(float)
    times: dict[Entity, int] = defaultdict(int)
    last = len(material.pieces)
    for number, piece in enumerate(material.pieces):
        if piece.kind == "result" and not results:
            continue
        fresh = 1 / (1 + (last - number) / HALF_LIFE)
        for entity in piece.names:
            source = (
                "call" if entity in piece.used else "result" if piece.kind == "call" else piece.kind
            )
            value[entity] = max(value[entity], SOURCE[source] * fresh)
            times[entity] += 1
    return sorted(value, key=lambda one: (-value[one] * KIND[one[0]] * (1 + log(times[one])), one))


def flat_list(names: Sequence[Entity]) -> str:
    return "\n".join(name for _, name in names)


def by_folder(names: Sequence[Entity]) -> str:
    folders: dict[str, list[str]] = defaultdict(list)
    others = []
    for kind, name in names:
        if kind == "P" and dirname(name):
            folders[dirname(name)].append(basename(name))
        else:
            others.append(name)
    grouped = [f"{folder}/: {', '.join(files)}" for folder, files in folders.items()]
    return "\n".join([*grouped, *others])
