"""What the steps of many logs say about one model: characters per token, and how far to trust us.

The figure that counts is the ratio of counted to estimated tokens in tool results: they are code,
paths and names, as a brief is, and no thinking hides in them. Where text takes more tokens than we
say, estimates are made longer at once; they are made shorter only on much evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.brief.tokens import generation
from holdfast.calibration.fit import predicted, trimmed
from holdfast.calibration.samples import CLASSES, Sample

Logs = dict[str, list[Sample]]  # by log

# So much evidence is needed to be more careful than the safe figures, and to be less careful.
TO_TIGHTEN, TO_LOOSEN = (60, 2), (400, 5)  # steps, logs
LONGEST_SCALE, SHORTEST_SCALE = 1.5, 0.85
FOLDS = 5
# A step that is mostly results, and long enough that overheads do not matter.
MOSTLY, LONG = 0.8, 500.0
RESULT = CLASSES.index("result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What was learned of one model."""

    model: str
    generation: str
    steps: int
    logs: int
    characters_per_token: dict[str, float]  # by class; a class that was hardly met is missing
    overhead: float  # tokens for each text, call or result
    ratio: float  # tokens counted for each that the safe figures estimate, in results
    ratio_low: float
    ratio_high: float
    p90: float  # the same of single long results, nine of ten
    error_p50: float  # of whole long steps in logs that were not learned from
    error_p95: float
    result_error_p50: float  # of long results in such logs, as they are estimated for a budget
    result_error_p95: float
    short: float  # the share of those that take more tokens than we say
    short_before: float  # the same by the safe figures
    scale: float
    why: str


def learned(logs: Logs, model: str) -> Figures:
    """Deterministic: the same logs give the same figures."""
    own = _of_model(logs, model)
    steps = [one for each in own.values() for one in each]
    by_characters = _fitted(steps, estimated=False)
    by_estimate = _fitted(steps, estimated=True)
    ratio, low, high = _ratio(own, by_estimate[RESULT])
    single = sorted(_ratios(steps, by_estimate))
    p90 = _quantile(single, 0.9)
    scale, why = _scale(len(steps), len(own), low, high, p90)
    errors, results = _held_out(own)
    of_results = sorted(abs(scale - ratio) / ratio for ratio in results if ratio > 0)
    return Figures(
        model=model,
        generation=generation(model),
        steps=len(steps),
        logs=len(own),
        characters_per_token={
            name: round(1 / rate, 2)
            for at, (name, rate) in enumerate(zip(CLASSES, by_characters, strict=False))
            if rate and _share(steps, at) >= 0.01
        },
        overhead=round(by_estimate[-1], 1),
        ratio=round(ratio, 3),
        ratio_low=round(low, 3),
        ratio_high=round(high, 3),
        p90=round(p90, 3),
        error_p50=round(_quantile(errors, 0.5), 3),
        error_p95=round(_quantile(errors, 0.95), 3),
        result_error_p50=round(_quantile(of_results, 0.5), 3),
        result_error_p95=round(_quantile(of_results, 0.95), 3),
        short=_over(results, scale),
        short_before=_over(results, 1.0),
        scale=scale,
        why=why,
    )


def _of_model(logs: Logs, model: str) -> Logs:
    """The steps without thinking, if there are enough of them; else all."""
    every = {
        name: [one for one in steps if one.model == model] for name, steps in sorted(logs.items())
    }
    plain = {name: [one for one in steps if not one.thought] for name, steps in every.items()}
    for found in (plain, every):
        found = {name: steps for name, steps in found.items() if steps}
        if sum(map(len, found.values())) >= TO_TIGHTEN[0] and len(found) >= TO_TIGHTEN[1]:
            return found
    return {name: steps for name, steps in every.items() if steps}


def _row(step: Sample, *, estimated: bool) -> list[float]:
    return [*(step.estimated if estimated else step.characters), 1.0, float(step.blocks)]


def _fitted(steps: Sequence[Sample], *, estimated: bool) -> list[float]:
    rows = [_row(step, estimated=estimated) for step in steps]
    return trimmed(rows, [float(step.tokens) for step in steps])


def _ratio(own: Logs, whole: float) -> tuple[float, float, float]:
    """The ratio in results with a 95 % interval: the logs are left out in turn, in groups."""
    groups = _groups(own)
    if len(groups) < 2:
        return whole, 0.0, LONGEST_SCALE
    without = [
        _fitted([one for other in groups if other is not group for one in other], estimated=True)
        for group in groups
    ]
    values = [found[RESULT] for found in without]
    mean = sum(values) / len(values)
    spread = (len(values) - 1) / len(values) * sum((value - mean) ** 2 for value in values)
    return whole, whole - 2 * spread**0.5, whole + 2 * spread**0.5


def _groups(own: Logs) -> list[list[Sample]]:
    """The logs in a few groups of about the same size."""
    groups: list[list[Sample]] = [[] for _ in range(min(FOLDS, len(own)))]
    for _, steps in sorted(own.items(), key=lambda one: (-len(one[1]), one[0])):
        min(groups, key=len).extend(steps)
    return groups


def _ratios(steps: Sequence[Sample], fitted: Sequence[float]) -> list[float]:
    """Counted to estimated tokens of single long results, without what else was in the step."""
    found = []
    for step in steps:
        row = _row(step, estimated=True)
        result = step.estimated[RESULT]
        if result >= max(LONG, MOSTLY * sum(step.estimated)):
            rest = predicted(fitted, row) - fitted[RESULT] * result
            found.append((step.tokens - rest) / result)
    return found


def _scale(steps: int, logs: int, low: float, high: float, p90: float) -> tuple[float, str]:
    """What estimates are multiplied by, and why."""
    if steps < TO_TIGHTEN[0] or logs < TO_TIGHTEN[1]:
        return 1.0, f"too little evidence: the safe figures count ({steps} steps of {logs} logs)"
    if high >= 1.0:
        scale = min(LONGEST_SCALE, round(high, 3))
        told = f"results may take up to {high:.2f} tokens for each that the safe figures say"
        return scale, f"{told}: estimates are that much longer"
    if p90 < 1.0 and steps >= TO_LOOSEN[0] and logs >= TO_LOOSEN[1]:
        scale = max(SHORTEST_SCALE, round(max(high, p90), 3))
        return scale, f"nine of ten results take less than {p90:.2f} of what the safe figures say"
    return 1.0, "the safe figures hold, and nothing proves that they are too careful"


def _held_out(own: Logs) -> tuple[list[float], list[float]]:
    """Errors in logs that were not learned from, and the ratios of single results there."""
    groups = _groups(own)
    errors: list[float] = []
    ratios: list[float] = []
    for group in groups if len(groups) > 1 else ():
        others = [one for other in groups if other is not group for one in other]
        fitted = _fitted(others, estimated=True)
        for step in group:
            if step.tokens >= LONG:
                said = predicted(fitted, _row(step, estimated=True))
                errors.append(abs(said - step.tokens) / step.tokens)
        ratios += _ratios(group, fitted)
    return sorted(errors), ratios


def _over(ratios: Sequence[float], scale: float) -> float:
    return round(sum(ratio > scale for ratio in ratios) / (len(ratios) or 1), 3)


def _share(steps: Sequence[Sample], at: int) -> float:
    """The part of all characters that is of this class."""
    return sum(one.characters[at] for one in steps) / (
        sum(sum(one.characters) for one in steps) or 1
    )


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
