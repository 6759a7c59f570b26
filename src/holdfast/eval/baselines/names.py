"""Baselines that are nothing but names: an anchor index, a dump of all names, and an oracle."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import log
from posixpath import basename, dirname

from holdfast.eval.baselines.context import CutContext
from holdfast.eval.budget import TokenBudget
from holdfast.eval.entities import Entity
from holdfast.eval.matching import TextMatcher

KIND_WEIGHTS = {"P": 3.0, "C": 1.5, "U": 1.0, "I": 1.0}
SOURCE_WEIGHTS = {"call": 3.0, "prompt": 2.0, "reply": 2.0, "note": 1.0, "result": 1.0}
HALF_LIFE_PIECES = 60  # in pieces of the conversation


def anchor_index(context: CutContext, budget: TokenBudget) -> str:
    """Names from tool inputs and from the conversation, without results."""
    return budget.fill(rank_names(context, results=False), render_list)


def name_dump(context: CutContext, budget: TokenBudget) -> str:
    """Names from tool inputs, from the conversation and from tool results."""
    return budget.fill(rank_names(context, results=True), render_list)


def grouped_name_dump(context: CutContext, budget: TokenBudget) -> str:
    """The same as `name_dump`, with files under their folders."""
    return budget.fill(rank_names(context, results=True), render_by_folder)


def missing_names(context: CutContext, budget: TokenBudget) -> str:
    """The names that the host's summary lacks."""
    summary = TextMatcher(context.cut.summary, context.session.paths)
    missing = [
        entity for entity in rank_names(context, results=True) if not summary.mentions(entity)
    ]
    return budget.fill(missing, render_list)


def oracle(context: CutContext, budget: TokenBudget) -> str:
    """What will be needed, best weight per character first: the upper limit of recall."""
    weights = context.references.weights
    best = sorted(weights, key=lambda entity: (-weights[entity] / (len(entity[1]) + 1), entity))
    return budget.fill(best, render_list)


def rank_names(context: CutContext, *, results: bool) -> list[Entity]:
    """Rank by kind, source, age and number of mentions; the weights were set by hand."""
    name = "with results" if results else "without results"
    if name not in context.rankings:
        context.rankings[name] = _rank(context, results)
    return context.rankings[name]


def _rank(context: CutContext, results: bool) -> list[Entity]:
    value: dict[Entity, float] = defaultdict(float)
    times: dict[Entity, int] = defaultdict(int)
    last = len(context.pieces)
    for number, piece in enumerate(context.pieces):
        if piece.kind == "result" and not results:
            continue
        recency = 1 / (1 + (last - number) / HALF_LIFE_PIECES)
        for entity in piece.names:
            source = (
                "call" if entity in piece.used else "result" if piece.kind == "call" else piece.kind
            )
            value[entity] = max(value[entity], SOURCE_WEIGHTS[source] * recency)
            times[entity] += 1
    return sorted(
        value, key=lambda one: (-value[one] * KIND_WEIGHTS[one[0]] * (1 + log(times[one])), one)
    )


def render_list(names: Sequence[Entity]) -> str:
    return "\n".join(name for _, name in names)


def render_by_folder(names: Sequence[Entity]) -> str:
    folders: dict[str, list[str]] = defaultdict(list)
    others = []
    for kind, name in names:
        if kind == "P" and dirname(name):
            folders[dirname(name)].append(basename(name))
        else:
            others.append(name)
    grouped = [f"{folder}/: {', '.join(files)}" for folder, files in folders.items()]
    return "\n".join([*grouped, *others])
