"""What the steps of many logs say about one model: characters per token, and how far to trust us.

Tool results are what is learned from: they are code, paths and prose, as a brief is, and no
thinking hides in them. The figure that counts is what a text that is mixed as a brief is would take
for each token that the safe figures say. Where that is more, estimates are made longer at once;
they are made shorter only on much evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from holdfast.brief.tokens import RATES, generation
from holdfast.calibration.fit import predicted, trimmed
from holdfast.calibration.samples import CLASSES, PARTS, Sample

Logs = dict[str, list[Sample]]  # by log

# So much evidence is needed to be more careful than the safe figures, and to be less careful.
TO_TIGHTEN, TO_LOOSEN = (60, 2), (400, 5)  # steps, logs
LONGEST_SCALE, SHORTEST_SCALE = 1.5, 0.85
FOLDS = 5
# A result that is most of its step, and long enough that overheads do not matter.
MOSTLY, LONG = 0.8, 500.0
RESULT = CLASSES.index("result")
# What a thousand characters of a brief consist of, as `PARTS`.
BRIEF = (640.0, 340.0, 13.0, 16.0, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What was learned of one model."""

    model: str
    generation: str
    steps: int
    logs: int
    characters_per_token: dict[str, float]  # by class; a class that was hardly met is missing
    names: float  # characters per token of names, paths, code and numbers in results
    prose: float
    overhead: float  # tokens for each text, call or result
    ratio: float  # tokens that a brief takes for each that the safe figures say
    ratio_low: float
    ratio_high: float
    p90: float  # what nine of ten long results stay below, times what was fitted
    error_p50: float  # of whole long steps in logs that were not learned from
    error_p95: float
    result_error_p50: float  # of long results in such logs
    result_error_p95: float
    short_before: float  # the share of those that take more than the safe figures say
    short: float  # the same of what is said now
    scale: float
    why: str


def learned(logs: Logs, model: str) -> Figures:
    """Deterministic: the same logs give the same figures."""
    own = _of_model(logs, model)
    steps = [one for each in own.values() for one in each]
    by_class, by_part = _fitted(steps, _by_class), _fitted(steps, _by_part)
    low, high = _interval(own, model)
    p90 = _quantile(sorted(one.counted / one.fitted for one in _results(steps, by_part)), 0.9)
    ratio = _ratio(by_part, model)
    scale, why = _scale(len(steps), len(own), high, p90)
    errors, results = _held_out(own)
    of_results = sorted(abs(one.fitted - one.counted) / one.counted for one in results)
    return Figures(
        model=model,
        generation=generation(model),
        steps=len(steps),
        logs=len(own),
        characters_per_token={
            name: round(1 / rate, 2)
            for at, (name, rate) in enumerate(zip(CLASSES, by_class, strict=False))
            if rate and _share(steps, at) >= 0.01
        },
        names=_per_token(by_part[0]),
        prose=_per_token(by_part[1]),
        overhead=round(by_part[-1], 1),
        ratio=round(ratio, 3),
        ratio_low=round(low, 3),
        ratio_high=round(high, 3),
        p90=round(p90, 3),
        error_p50=round(_quantile(errors, 0.5), 3),
        error_p95=round(_quantile(errors, 0.95), 3),
        result_error_p50=round(_quantile(of_results, 0.5), 3),
        result_error_p95=round(_quantile(of_results, 0.95), 3),
        short_before=_short(results, model, 1.0),
        short=_short(results, model, scale),
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


def _by_class(step: Sample) -> list[float]:
    return [*step.characters, 1.0, float(step.blocks)]


def _by_part(step: Sample) -> list[float]:
    """What results consist of, then everything else by its class."""
    others = [size for at, size in enumerate(step.characters) if at != RESULT]
    return [*step.parts, *others, 1.0, float(step.blocks)]


def _fitted(steps: Sequence[Sample], row: Callable[[Sample], list[float]]) -> list[float]:
    return trimmed([row(step) for step in steps], [float(step.tokens) for step in steps])


def _ratio(fitted: Sequence[float], model: str) -> float:
    """A brief's tokens by what was fitted, to its tokens by the safe figures.

    What was never met counts by the safe figures on both sides.
    """
    safe = _safe(model)
    known = [rate or safe[at] for at, rate in enumerate(fitted[: len(PARTS)])]
    return predicted(known, BRIEF) / predicted(safe, BRIEF)


def _safe(model: str) -> tuple[float, ...]:
    """Tokens for each character of each part, as estimates are made without any learning."""
    dense, prose = RATES[generation(model)]
    return 1 / dense, 1 / prose, 1.0, 0.4, 0.0


def _interval(own: Logs, model: str) -> tuple[float, float]:
    """Of the ratio, at 95 %: the logs are left out in turn, in groups."""
    groups = _groups(own)
    if len(groups) < 2:
        return 0.0, LONGEST_SCALE
    values = [_ratio(_fitted(_but(groups, group), _by_part), model) for group in groups]
    mean = sum(values) / len(values)
    spread = (len(values) - 1) / len(values) * sum((value - mean) ** 2 for value in values)
    return mean - 2 * spread**0.5, mean + 2 * spread**0.5


def _groups(own: Logs) -> list[list[Sample]]:
    """The logs in a few groups of about the same size."""
    groups: list[list[Sample]] = [[] for _ in range(min(FOLDS, len(own)))]
    for _, steps in sorted(own.items(), key=lambda one: (-len(one[1]), one[0])):
        min(groups, key=len).extend(steps)
    return groups


def _but(groups: list[list[Sample]], group: list[Sample]) -> list[Sample]:
    return [one for other in groups if other is not group for one in other]


@dataclass(frozen=True, slots=True)
class _Result:
    """One long result: its tokens as counted and as fitted."""

    counted: float
    fitted: float
    parts: tuple[int, ...]


def _results(steps: Sequence[Sample], fitted: Sequence[float]) -> list[_Result]:
    found = []
    for step in steps:
        result = predicted(fitted[: len(PARTS)], step.parts)
        rest = predicted(fitted, _by_part(step)) - result
        if result >= max(LONG, MOSTLY * (result + rest)) and step.tokens > rest:
            found.append(_Result(step.tokens - rest, result, step.parts))
    return found


def _short(results: Sequence[_Result], model: str, scale: float) -> float:
    safe = _safe(model)
    short = sum(one.counted > scale * predicted(safe, one.parts) for one in results)
    return round(short / (len(results) or 1), 3)


def _scale(steps: int, logs: int, high: float, p90: float) -> tuple[float, str]:
    """What estimates are multiplied by, and why."""
    if steps < TO_TIGHTEN[0] or logs < TO_TIGHTEN[1]:
        told = f"{steps} steps of {logs} log{'s' if logs != 1 else ''}"
        return 1.0, f"{told} are too little evidence: the safe figures count"
    if high >= 1.0:
        scale = min(LONGEST_SCALE, round(high, 3))
        told = f"a brief may take up to {high:.2f} tokens for each that the safe figures say"
        return scale, f"{told}: estimates are that much longer"
    if high * p90 < 1.0 and steps >= TO_LOOSEN[0] and logs >= TO_LOOSEN[1]:
        scale = max(SHORTEST_SCALE, round(high * p90, 3))
        return scale, f"nine of ten results take less than {high * p90:.2f} of the safe figures"
    return 1.0, "the safe figures hold, and nothing proves that they are too careful"


def _held_out(own: Logs) -> tuple[list[float], list[_Result]]:
    """Errors of steps in logs that were not learned from, in order, and the results there."""
    groups = _groups(own)
    errors: list[float] = []
    results: list[_Result] = []
    for group in groups if len(groups) > 1 else ():
        fitted = _fitted(_but(groups, group), _by_part)
        for step in group:
            if step.tokens >= LONG:
                said = predicted(fitted, _by_part(step))
                errors.append(abs(said - step.tokens) / step.tokens)
        results += _results(group, fitted)
    return sorted(errors), results


def _per_token(rate: float) -> float:
    return round(1 / rate, 2) if rate else 0.0


def _share(steps: Sequence[Sample], at: int) -> float:
    """The part of all characters that is of this class."""
    whole = sum(sum(one.characters) for one in steps)
    return sum(one.characters[at] for one in steps) / (whole or 1)


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
