"""Score sessions: each is read once, in a process of its own, and gives plain rows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import Any

from holdfast.brief.tokens import estimate
from holdfast.errors import NotATranscript
from holdfast.eval.arms import Folded, Told, texts
from holdfast.eval.baselines.material import Material
from holdfast.eval.cuts import FEWEST_ENTITIES, cuts
from holdfast.eval.matching import Said
from holdfast.eval.metrics.recall import recall
from holdfast.eval.references import references
from holdfast.eval.session import Session, load

PROCESSES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to measure."""

    budgets: tuple[int, ...] = (500, 1000, 2000)
    estimator: str = "ours"
    quick: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The figures of one text at one cut."""

    session: str
    repository: str
    arm: str
    line: int
    method: str
    budget: int
    figures: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """All rows of one transcript, or why there are none."""

    path: str
    rows: tuple[Row, ...] = ()
    skipped: str = ""
    facts: dict[str, Any] = field(default_factory=dict)


def score_all(paths: Sequence[str], plan: Plan) -> Iterator[Scored]:
    """Each transcript as it is done; the order is that of the work, not of the names."""
    if len(paths) == 1:
        yield score(paths[0], plan)
        return
    with ProcessPoolExecutor(min(PROCESSES, os.cpu_count() or 1)) as pool:
        for done in as_completed([pool.submit(score, path, plan) for path in paths]):
            yield done.result()


def score(path: str, plan: Plan) -> Scored:
    try:
        session = load(path)
    except NotATranscript as problem:
        return Scored(path=path, skipped=problem.detail)
    rows = tuple(_rows(session, plan))
    return Scored(path=path, rows=rows, skipped="" if rows else _why_nothing(session))


def _why_nothing(session: Session) -> str:
    if not session.calls:
        return "no tool calls of Claude Code in it"
    return "too little happens after any cut"


def _rows(session: Session, plan: Plan) -> Iterator[Row]:
    folded = Folded(session.path)
    for cut in cuts(session):
        needed = references(session, cut)
        if len(needed.weights) < FEWEST_ENTITIES:
            continue
        material = Material(session, cut, needed)
        for told in texts(material, folded.until(cut.line), plan.budgets, plan.estimator):
            yield Row(
                session=session.name,
                repository=session.repository,
                arm=cut.arm,
                line=cut.line,
                method=told.method,
                budget=told.budget,
                figures=_figures(told, material),
            )


def _figures(told: Told, material: Material) -> dict[str, float]:
    said = Said(told.text, material.session.paths)
    return {
        **recall(said, material.references),
        "needed": float(len(material.references.weights)),
        "tokens": float(estimate(told.ours or told.text)),
        "characters": float(len(told.ours or told.text)),
    }
