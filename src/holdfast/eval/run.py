"""Score transcripts in worker processes: one row of figures for each text at each cut."""

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

from holdfast.errors import UnreadableTranscript
from holdfast.eval.baselines import CutContext
from holdfast.eval.config import EvalConfig
from holdfast.eval.cuts import MIN_NEEDED_ENTITIES, REAL, Cut, find_cuts
from holdfast.eval.ground_truth import read_ground_truth
from holdfast.eval.lines import read_raw_lines
from holdfast.eval.measure import LOOKUP_BUDGET, CutScorer
from holdfast.eval.methods import (
    BRIEF,
    Candidate,
    FoldedSession,
    build_brief_candidate,
    build_candidates,
)
from holdfast.eval.multi_compaction import CHAINED_BRIEF, build_chained_briefs, find_first_spans
from holdfast.eval.references import References, find_references
from holdfast.eval.session import Session, load_session

MAX_PROCESSES = 2
Result = TypeVar("Result")


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
class TranscriptScores:
    """All rows of one transcript, or why there are none."""

    path: str
    rows: tuple[Row, ...] = ()
    skipped: str = ""


def score_all(paths: Sequence[str], config: EvalConfig) -> Iterator[TranscriptScores]:
    """Yield the scores of each transcript as it completes, in no fixed order."""
    return map_transcripts(partial(score, config=config), paths)


def map_transcripts(work: Callable[[str], Result], paths: Sequence[str]) -> Iterator[Result]:
    """Yield the result of each transcript as it completes, in no fixed order."""
    if len(paths) == 1:
        yield work(paths[0])
        return
    workers = min(MAX_PROCESSES, os.cpu_count() or 1)
    # Forking a process that draws a progress bar in a thread can deadlock.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for future in as_completed([pool.submit(work, path) for path in paths]):
            yield future.result()


def score(path: str, config: EvalConfig) -> TranscriptScores:
    """Score one transcript; one that cannot be read or has no cut gives a reason, not an error."""
    try:
        session = load_session(path)
        rows = tuple(_score_cuts(session, config))
    except UnreadableTranscript as problem:
        return TranscriptScores(path=path, skipped=problem.detail)
    return TranscriptScores(path=path, rows=rows, skipped="" if rows else _explain_no_rows(session))


def _explain_no_rows(session: Session) -> str:
    if not session.calls:
        return "no tool calls of a main chain in it"
    return "too little happens after any cut"


def find_scorable_cuts(session: Session) -> list[tuple[Cut, References]]:
    """Return the cuts after which enough known entities are needed, with what is needed."""
    needed_by_cut = [(cut, find_references(session, cut)) for cut in find_cuts(session)]
    return [pair for pair in needed_by_cut if len(pair[1].weights) >= MIN_NEEDED_ENTITIES]


def _score_cuts(session: Session, config: EvalConfig) -> Iterator[Row]:
    scorable = find_scorable_cuts(session)
    folded, first_spans = FoldedSession(session.path), find_first_spans(session)
    chained = {} if config.quick else build_chained_briefs(session, LOOKUP_BUDGET)
    for cut, needed in scorable:
        context = CutContext(session, cut, needed)
        with _lookup(session, cut, config) as lookup:
            scorer = CutScorer(
                context=context,
                truth=None if config.quick else read_ground_truth(session, cut, needed),
                first_spans=first_spans,
                lookup=lookup,
            )
            for candidate in (
                *build_candidates(context, folded.fold_until(cut.line), config),
                *_chained_candidates(cut, chained),
            ):
                yield _to_row(session, cut, candidate, scorer.figures(candidate))
    if scorable and not config.quick:
        yield _check_refold(session, scorable[-1][0], folded, config.budgets[-1])


def _to_row(session: Session, cut: Cut, candidate: Candidate, figures: dict[str, float]) -> Row:
    return Row(
        session=session.name,
        repository=session.repository,
        arm=cut.arm,
        line=cut.line,
        method=candidate.method,
        budget=candidate.budget,
        figures=figures,
    )


def _chained_candidates(cut: Cut, chained: dict[int, str]) -> Iterator[Candidate]:
    if cut.arm == REAL and cut.number and cut.line in chained:
        yield Candidate(method=CHAINED_BRIEF, budget=LOOKUP_BUDGET, text=chained[cut.line])


def _check_refold(session: Session, cut: Cut, folded: FoldedSession, tokens: int) -> Row:
    """Check that folding in one go gives the same brief as folding from cut to cut."""
    stepwise = build_brief_candidate(folded.fold_until(cut.line), tokens)
    at_once = build_brief_candidate(FoldedSession(session.path).fold_until(cut.line), tokens)
    candidate = Candidate(method=BRIEF, budget=tokens, text="")
    figures = {"not_repeatable": float(stepwise.ours != at_once.ours)}
    return _to_row(session, cut, candidate, figures)


@contextmanager
def _lookup(
    session: Session, cut: Cut, config: EvalConfig
) -> Iterator[Callable[[str], str] | None]:
    """Yield a lookup in the transcript as it was at the cut; None in a quick run."""
    lookup = config.lookup
    if lookup is None or config.quick:
        yield None
        return
    with truncated_transcript(session, cut) as path:
        yield lambda words: lookup(path, words)


@contextmanager
def truncated_transcript(session: Session, cut: Cut) -> Iterator[str]:
    """Yield the path of a temporary file with the lines before the cut."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "session.jsonl")
        with open(path, "wb") as file:
            for number, line in enumerate(read_raw_lines(session.path), 1):
                if number >= cut.line:
                    break
                file.write(line)
        yield path
