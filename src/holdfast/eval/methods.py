"""The texts that are scored at a cut: our brief, the host's summary, both together, baselines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from time import perf_counter

from holdfast.brief.render import Brief, build_brief
from holdfast.eval.baselines import BASELINES, CutContext
from holdfast.eval.budget import TokenBudget
from holdfast.eval.config import EvalConfig
from holdfast.state.fold import advance, new_state
from holdfast.state.types import State
from holdfast.transcript.decoder import Decoder
from holdfast.transcript.reader import read_lines

BRIEF, SUMMARY, BOTH = "brief", "host summary", "summary + brief"
QUICK_BASELINES = ("actions tail", "name dump")
SUMMARY_BUDGETS = (300, 500, 1000, 2000)
MAX_BRIEF_UNITS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One text under one budget."""

    method: str
    budget: int
    text: str
    ours: str = ""  # the part that Holdfast wrote
    added: str = ""  # the part that is added to a summary
    seconds: float = 0.0
    tokens: int = 0  # as the brief itself counts, by the tokenizer of the session's model
    rebuilt: str = field(default="", repr=False)  # the same brief, built a second time


class FoldedSession:
    """The product's state of a session, folded from cut to cut."""

    def __init__(self, path: str) -> None:
        self.state: State = new_state()
        self._lines = read_lines(path)
        self._decoder = Decoder()
        self._next: tuple[int, bytes] | None = None

    def fold_until(self, line: int) -> FoldedSession:
        """Fold everything before this line and return self. Lines must not go backwards."""
        advance(self.state, self._decoder.events(self._before(line)))
        return self

    def _before(self, line: int) -> Iterator[tuple[int, bytes]]:
        while (numbered := self._next or next(self._lines, None)) is not None:
            if numbered[0] >= line:
                self._next = numbered
                return
            self._next = None
            yield numbered


def build_candidates(
    context: CutContext, folded: FoldedSession, config: EvalConfig
) -> Iterator[Candidate]:
    """Yield every text to score at this cut."""
    summary, model = context.cut.summary, folded.state["usage"]["model"]
    for tokens in config.budgets:
        yield build_brief_candidate(folded, tokens)
    if summary:
        yield Candidate(method=SUMMARY, budget=0, text=summary)
        for tokens in SUMMARY_BUDGETS:
            yield build_brief_candidate(folded, tokens, summary)
    for name, baseline in BASELINES.items():
        for tokens in () if config.quick and name not in QUICK_BASELINES else config.budgets:
            text = baseline(context, TokenBudget(tokens, model))
            yield Candidate(method=name, budget=tokens, text=text)


def build_brief_candidate(folded: FoldedSession, tokens: int, summary: str = "") -> Candidate:
    """Build our brief twice, to check that both are the same; the first build is timed."""
    start = perf_counter()
    brief = _build(folded, tokens, summary)
    seconds, text = perf_counter() - start, brief.text
    return Candidate(
        method=BOTH if summary else BRIEF,
        budget=tokens,
        text=f"{summary}\n\n{text}" if summary else text,
        ours=text,
        added=text,
        seconds=seconds,
        tokens=brief.tokens,
        rebuilt=_build(folded, tokens, summary).text,
    )


def _build(folded: FoldedSession, tokens: int, summary: str) -> Brief:
    return build_brief(
        folded.state,
        tokens=tokens,
        characters=MAX_BRIEF_UNITS,
        summary=summary or None,
    )
