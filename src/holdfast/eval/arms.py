"""The texts that are scored at a cut: our brief, the host's summary, both together, baselines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from time import perf_counter

from holdfast.brief.render import Brief, build
from holdfast.eval.baselines import BASELINES
from holdfast.eval.baselines.material import Material
from holdfast.eval.baselines.names import lacking
from holdfast.eval.budget import Budget
from holdfast.eval.plan import Plan
from holdfast.names.index import new_index, observe
from holdfast.names.model import Index
from holdfast.state.fold import advance, new_state
from holdfast.state.model import State
from holdfast.transcript.events import Decoder
from holdfast.transcript.reader import whole_file

BRIEF, SUMMARY, BOTH = "brief", "host summary", "summary + brief"
SUMMARY_ALONE = "host summary, no analysis"
SUMMARY_AND_NAMES = "summary + names it lacks"
QUICK = ("actions tail", "name dump")
COMBINED = (300, 500, 1000, 2000)
CHARACTERS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One text under one budget; `ours` is the part of it that Holdfast wrote."""

    method: str
    budget: int
    text: str
    ours: str = ""
    added: str = ""  # what stands beside a summary
    seconds: float = 0.0
    tokens: int = 0  # as the brief itself counts, by the tokenizer of the session's model
    again: str = field(default="", repr=False)  # the same brief, built a second time


class Folded:
    """The product's state of a session, moved on from cut to cut."""

    def __init__(self, path: str) -> None:
        self.state: State = new_state()
        self.index: Index = new_index()
        self._lines = whole_file(path)
        self._decoder = Decoder()
        self._next: tuple[int, bytes] | None = None

    def until(self, line: int) -> Folded:
        """State and names of everything before this line."""
        events = list(self._decoder.events(self._before(line)))
        advance(self.state, events)
        observe(self.index, events)
        return self

    def _before(self, line: int) -> Iterator[tuple[int, bytes]]:
        while (found := self._next or next(self._lines, None)) is not None:
            if found[0] >= line:
                self._next = found
                return
            self._next = None
            yield found


def texts(material: Material, folded: Folded, plan: Plan) -> Iterator[Told]:
    """Everything there is to score at this cut."""
    summary, model = material.cut.summary, folded.state["usage"]["model"]
    for tokens in plan.budgets:
        yield brief(folded, tokens)
    if summary:
        yield Told(method=SUMMARY, budget=0, text=summary)
        yield Told(method=SUMMARY_ALONE, budget=0, text=without_analysis(summary))
        for tokens in COMBINED:
            yield brief(folded, tokens, summary)
            names = lacking(material, Budget(tokens, plan.estimator, model))
            yield Told(
                method=SUMMARY_AND_NAMES, budget=tokens, text=f"{summary}\n\n{names}", added=names
            )
    for name, baseline in BASELINES.items():
        for tokens in () if plan.quick and name not in QUICK else plan.budgets:
            text = baseline(material, Budget(tokens, plan.estimator, model))
            yield Told(method=name, budget=tokens, text=text)


def without_analysis(summary: str) -> str:
    """What the host shows the model of a summary that thinks aloud first."""
    thought, found, rest = summary.partition("</analysis>")
    if not found:
        thought, found, rest = summary.partition("\nSummary:")
    return rest if found and "nalysis" in thought[:400] else summary


def brief(folded: Folded, tokens: int, summary: str = "") -> Told:
    """Our brief, built twice: it must come out the same."""
    begun = perf_counter()
    made = _built(folded, tokens, summary)
    seconds, text = perf_counter() - begun, made.text
    return Told(
        method=BOTH if summary else BRIEF,
        budget=tokens,
        text=f"{summary}\n\n{text}" if summary else text,
        ours=text,
        added=text,
        seconds=seconds,
        tokens=made.tokens,
        again=_built(folded, tokens, summary).text,
    )


def _built(folded: Folded, tokens: int, summary: str) -> Brief:
    return build(
        folded.state,
        index=folded.index,
        tokens=tokens,
        characters=CHARACTERS,
        summary=summary or None,
    )
