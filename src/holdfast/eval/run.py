"""Score sessions: each is read once, in a process of its own, and gives plain rows."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from typing import TypeVar

from holdfast.errors import NotATranscript
from holdfast.eval.arms import BRIEF, Folded, Told, texts
from holdfast.eval.arms import brief as brief_of
from holdfast.eval.artifacts import trails
from holdfast.eval.artifacts.lines import raw_lines
from holdfast.eval.baselines.material import Material
from holdfast.eval.chain import ONLY_BRIEF, briefs_of_briefs, first_seen
from holdfast.eval.cuts import FEWEST_ENTITIES, REAL, Cut, cuts
from holdfast.eval.ground import ground
from holdfast.eval.measure import LOOKED_UP, Yardstick
from holdfast.eval.plan import Plan
from holdfast.eval.references import References, references
from holdfast.eval.session import Session, load

PROCESSES = 2
Done = TypeVar("Done")


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


def score_all(paths: Sequence[str], plan: Plan) -> Iterator[Scored]:
    return spread(partial(score, plan=plan), paths)


def spread(work: Callable[[str], Done], paths: Sequence[str]) -> Iterator[Done]:
    """Each transcript as it is done; the order is that of the work, not of the names."""
    if len(paths) == 1:
        yield work(paths[0])
        return
    workers = min(PROCESSES, os.cpu_count() or 1)
    # A fork of a process that draws a progress bar in a thread may never wake up.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for done in as_completed([pool.submit(work, path) for path in paths]):
            yield done.result()


def score(path: str, plan: Plan) -> Scored:
    try:
        session = load(path)
        rows = tuple(_rows(session, plan))
    except NotATranscript as problem:
        return Scored(path=path, skipped=problem.detail)
    return Scored(path=path, rows=rows, skipped="" if rows else _why_nothing(session))


def _why_nothing(session: Session) -> str:
    if not session.calls:
        return "no tool calls of a main chain in it"
    return "too little happens after any cut"


def eligible(session: Session) -> list[tuple[Cut, References]]:
    """The cuts after which enough is done that was known before."""
    found = [(cut, references(session, cut)) for cut in cuts(session)]
    return [(cut, needed) for cut, needed in found if len(needed.weights) >= FEWEST_ENTITIES]


def _rows(session: Session, plan: Plan) -> Iterator[Row]:
    found = eligible(session)
    folded, seen = Folded(session.path), first_seen(session)
    truth = {} if plan.quick else trails(session.path, [cut.line - 1 for cut, _ in found])
    again = {} if plan.quick else briefs_of_briefs(session, LOOKED_UP)
    for cut, needed in found:
        material = Material(session, cut, needed)
        trail = truth.get(cut.line - 1)
        with _lookup(session, cut, plan) as lookup:
            yardstick = Yardstick(
                material=material,
                truth=ground(session, cut, needed, trail) if trail else None,
                seen=seen,
                lookup=lookup,
            )
            for told in (*texts(material, folded.until(cut.line), plan), *_chained(cut, again)):
                yield _row(session, cut, told, yardstick.figures(told))
    if found and not plan.quick:
        yield _folded_anew(session, found[-1][0], folded, plan.budgets[-1])


def _row(session: Session, cut: Cut, told: Told, figures: dict[str, float]) -> Row:
    return Row(
        session=session.name,
        repository=session.repository,
        arm=cut.arm,
        line=cut.line,
        method=told.method,
        budget=told.budget,
        figures=figures,
    )


def _chained(cut: Cut, again: dict[int, str]) -> Iterator[Told]:
    if cut.arm == REAL and cut.number and cut.line in again:
        yield Told(method=ONLY_BRIEF, budget=LOOKED_UP, text=again[cut.line])


def _folded_anew(session: Session, cut: Cut, folded: Folded, tokens: int) -> Row:
    """The same lines folded in one go must give the same bytes as folded from cut to cut."""
    once = brief_of(folded.until(cut.line), tokens)
    anew = brief_of(Folded(session.path).until(cut.line), tokens)
    told = Told(method=BRIEF, budget=tokens, text="")
    return _row(session, cut, told, {"not_repeatable": float(once.ours != anew.ours)})


@contextmanager
def _lookup(session: Session, cut: Cut, plan: Plan) -> Iterator[Callable[[str], str] | None]:
    """Looks words up in what the transcript held at the cut."""
    lookup = plan.lookup
    if lookup is None or plan.quick:
        yield None
        return
    with beginning(session, cut) as path:
        yield lambda words: lookup(path, words)


@contextmanager
def beginning(session: Session, cut: Cut) -> Iterator[str]:
    """A file with the transcript as it was at the cut."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "session.jsonl")
        with open(path, "wb") as file:
            for number, line in enumerate(raw_lines(session.path), 1):
                if number >= cut.line:
                    break
                file.write(line)
        yield path
