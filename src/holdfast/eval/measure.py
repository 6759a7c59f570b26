"""Compute all figures of one text at one cut."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from holdfast.eval.baselines import CutContext
from holdfast.eval.budget import FLAT_CHARS_PER_TOKEN
from holdfast.eval.entities import Entity
from holdfast.eval.ground_truth import GroundTruth
from holdfast.eval.matching import TextMatcher
from holdfast.eval.methods import BRIEF, MAX_BRIEF_UNITS, Candidate
from holdfast.eval.metrics.provenance import measure_provenance
from holdfast.eval.metrics.recall import measure_precision, measure_recall
from holdfast.eval.metrics.recovery import measure_recovery
from holdfast.eval.metrics.retention import measure_last_error, measure_retention
from holdfast.eval.metrics.staleness import measure_staleness
from holdfast.eval.multi_compaction import measure_survival
from holdfast.tokens.estimate import estimate_tokens

# Lookups are slow, so only the brief of this size is measured with them.
LOOKUP_BUDGET = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class CutScorer:
    """Scores the texts of one cut."""

    context: CutContext
    truth: GroundTruth | None  # None in a quick run
    first_spans: dict[Entity, int]  # see `find_first_spans`
    lookup: Callable[[str], str] | None

    def figures(self, candidate: Candidate) -> dict[str, float]:
        session, needed = self.context.session, self.context.references
        matcher = TextMatcher(candidate.text, session.paths)
        sized_text = candidate.added or candidate.text
        figures = {
            **measure_recall(matcher, needed),
            **measure_precision(matcher, needed),
            "tokens": float(estimate_tokens(sized_text)),
            "characters": float(len(sized_text)),
        }
        if candidate.ours:
            chars_before = sum(len(piece.text) for piece in self.context.pieces)
            figures |= check_limits(candidate, chars_before)
        if self.truth is not None:
            figures |= self._compare_with_truth(candidate, matcher, self.truth)
        return figures

    def _compare_with_truth(
        self, candidate: Candidate, matcher: TextMatcher, truth: GroundTruth
    ) -> dict[str, float]:
        figures = {
            **measure_retention(matcher.text, truth.instructions),
            **measure_staleness(matcher, truth),
            **measure_last_error(matcher, truth.error),
            **measure_survival(matcher, truth.references, self.first_spans, truth.cut),
        }
        if candidate.ours:
            figures |= measure_provenance(candidate.ours, truth.session)
        if candidate.method == BRIEF:
            lookup = self.lookup if candidate.budget == LOOKUP_BUDGET else None
            figures |= measure_recovery(matcher, truth.references, truth.session, lookup)
        return figures


def check_limits(candidate: Candidate, chars_before: int) -> dict[str, float]:
    """Return 1.0 for each limit that a brief breaks, else 0.0; and the seconds to build it.

    A brief must keep its budget and the host's cap, be the same when built again, and be shorter
    than the text before the cut.
    """
    # The host counts UTF-16 code units.
    units = len(candidate.ours.encode("utf-16-le", "surrogatepass")) // 2
    return {
        "overshoots": float(
            max(candidate.tokens, len(candidate.ours) / FLAT_CHARS_PER_TOKEN) > candidate.budget
        ),
        "over_cap": float(units > MAX_BRIEF_UNITS),
        "not_repeatable": float(candidate.ours != candidate.rebuilt),
        "not_shorter": float(len(candidate.ours) >= chars_before),
        "seconds": candidate.seconds,
    }
