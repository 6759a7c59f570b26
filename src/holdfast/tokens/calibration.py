"""Calibrates the estimates for one model with the samples of many transcripts.

Only tool results are evaluated: like a brief they are code, paths and prose, and no thinking is
hidden in them. The result is a ratio: the tokens of a text with a brief's mix of characters, per
token by the safe figures, which are the default rates of `estimate`. If the ratio is above 1, the
estimates are raised at once; they are lowered only on much evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from holdfast.tokens.estimate import RATES, tokenizer_generation
from holdfast.tokens.regression import fit_trimmed, predict
from holdfast.tokens.samples import CHARACTER_KINDS, CONTENT_CLASSES, Sample

SamplesByLog = dict[str, list[Sample]]

# How many steps and logs are needed to raise the estimates, and to lower them.
MIN_TO_RAISE, MIN_TO_LOWER = (60, 2), (400, 5)
MAX_SCALE, MIN_SCALE = 1.5, 0.85
MAX_FOLDS = 5
# A result is evaluated if it is this share of its step, and has so many tokens that overheads do
# not matter.
MIN_RESULT_SHARE, MIN_LONG_TOKENS = 0.8, 500.0
RESULT_INDEX = CONTENT_CLASSES.index("result")
# How many of about a thousand characters of a brief are of each of CHARACTER_KINDS.
BRIEF_CHARACTERS = (640.0, 340.0, 13.0, 16.0, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCalibration:
    """The calibration of one model, as it is stored and printed."""

    model: str
    generation: str
    steps: int
    logs: int
    characters_per_token: dict[str, float]  # by content class; rare classes are missing
    names: float  # characters per token of names, paths, code and numbers in results
    prose: float
    overhead: float  # tokens for each text, call or result
    ratio: float  # tokens of a brief per token by the safe figures
    ratio_low: float
    ratio_high: float
    p90: float  # nine of ten long results take at most this times the fitted tokens
    error_p50: float  # of whole long steps in held-out logs
    error_p95: float
    result_error_p50: float  # of long results in held-out logs
    result_error_p95: float
    short_before: float  # the share of those results that take more than the safe figures say
    short: float  # the same share with the new scale
    scale: float
    why: str


def calibrate_model(logs: SamplesByLog, model: str) -> ModelCalibration:
    """Calibrate one model. Deterministic: the same samples give the same figures."""
    own = _select_model(logs, model)
    steps = [step for log_steps in own.values() for step in log_steps]
    by_class, by_kind = _fit(steps, _class_row), _fit(steps, _kind_row)
    low, high = _confidence_interval(own, model)
    p90 = _quantile(
        sorted(long.counted / long.fitted for long in _long_results(steps, by_kind)), 0.9
    )
    ratio = _brief_ratio(by_kind, model)
    scale, why = _choose_scale(len(steps), len(own), high, p90)
    errors, results = _cross_validate(own)
    result_errors = sorted(abs(long.fitted - long.counted) / long.counted for long in results)
    return ModelCalibration(
        model=model,
        generation=tokenizer_generation(model),
        steps=len(steps),
        logs=len(own),
        characters_per_token={
            name: round(1 / rate, 2)
            for index, (name, rate) in enumerate(zip(CONTENT_CLASSES, by_class, strict=False))
            if rate and _class_share(steps, index) >= 0.01
        },
        names=_chars_per_token(by_kind[0]),
        prose=_chars_per_token(by_kind[1]),
        overhead=round(by_kind[-1], 1),
        ratio=round(ratio, 3),
        ratio_low=round(low, 3),
        ratio_high=round(high, 3),
        p90=round(p90, 3),
        error_p50=round(_quantile(errors, 0.5), 3),
        error_p95=round(_quantile(errors, 0.95), 3),
        result_error_p50=round(_quantile(result_errors, 0.5), 3),
        result_error_p95=round(_quantile(result_errors, 0.95), 3),
        short_before=_underestimated_share(results, model, 1.0),
        short=_underestimated_share(results, model, scale),
        scale=scale,
        why=why,
    )


def _select_model(logs: SamplesByLog, model: str) -> SamplesByLog:
    """Return the steps of a model without thinking, or all of them if those are too few."""
    all_steps = {
        name: [step for step in steps if step.model == model]
        for name, steps in sorted(logs.items())
    }
    plain = {
        name: [step for step in steps if not step.has_thinking] for name, steps in all_steps.items()
    }
    for candidates in (plain, all_steps):
        candidates = {name: steps for name, steps in candidates.items() if steps}
        count = sum(map(len, candidates.values()))
        if count >= MIN_TO_RAISE[0] and len(candidates) >= MIN_TO_RAISE[1]:
            return candidates
    return {name: steps for name, steps in all_steps.items() if steps}


def _class_row(step: Sample) -> list[float]:
    """Return the features of a step: characters by content class, a constant, and the blocks."""
    return [*step.characters, 1.0, float(step.blocks)]


def _kind_row(step: Sample) -> list[float]:
    """Return the features of a step: results by character kind, the rest by content class."""
    others = [size for index, size in enumerate(step.characters) if index != RESULT_INDEX]
    return [*step.result_characters, *others, 1.0, float(step.blocks)]


def _fit(steps: Sequence[Sample], to_row: Callable[[Sample], list[float]]) -> list[float]:
    return fit_trimmed([to_row(step) for step in steps], [float(step.tokens) for step in steps])


def _brief_ratio(fitted: Sequence[float], model: str) -> float:
    """Return the tokens of a brief by the fitted rates, per token by the safe figures.

    A kind of character that no sample has counts by the safe figures on both sides.
    """
    safe = _safe_rates(model)
    rates = [rate or safe[index] for index, rate in enumerate(fitted[: len(CHARACTER_KINDS)])]
    return predict(rates, BRIEF_CHARACTERS) / predict(safe, BRIEF_CHARACTERS)


def _safe_rates(model: str) -> tuple[float, ...]:
    """Return the tokens per character of each kind, as in estimates without a calibration."""
    dense, prose = RATES[tokenizer_generation(model)]
    return 1 / dense, 1 / prose, 1.0, 0.4, 0.0


def _confidence_interval(own: SamplesByLog, model: str) -> tuple[float, float]:
    """Return the 95 % interval of the ratio, by a jackknife over groups of logs."""
    groups = _split_folds(own)
    if len(groups) < 2:
        return 0.0, MAX_SCALE
    values = [_brief_ratio(_fit(_without(groups, group), _kind_row), model) for group in groups]
    mean = sum(values) / len(values)
    variance = (len(values) - 1) / len(values) * sum((value - mean) ** 2 for value in values)
    return mean - 2 * variance**0.5, mean + 2 * variance**0.5


def _split_folds(own: SamplesByLog) -> list[list[Sample]]:
    """Return the logs in at most MAX_FOLDS groups with about as many steps each."""
    groups: list[list[Sample]] = [[] for _ in range(min(MAX_FOLDS, len(own)))]
    for _, steps in sorted(own.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        min(groups, key=len).extend(steps)
    return groups


def _without(groups: list[list[Sample]], group: list[Sample]) -> list[Sample]:
    return [step for other in groups if other is not group for step in other]


@dataclass(frozen=True, slots=True)
class _LongResult:
    """One long tool result: its tokens as counted and as fitted."""

    counted: float
    fitted: float
    characters: tuple[int, ...]


def _long_results(steps: Sequence[Sample], fitted: Sequence[float]) -> list[_LongResult]:
    """Return the long results that are most of their step, without the tokens of the rest."""
    results = []
    for step in steps:
        result = predict(fitted[: len(CHARACTER_KINDS)], step.result_characters)
        rest = predict(fitted, _kind_row(step)) - result
        minimum = max(MIN_LONG_TOKENS, MIN_RESULT_SHARE * (result + rest))
        if result >= minimum and step.tokens > rest:
            results.append(_LongResult(step.tokens - rest, result, step.result_characters))
    return results


def _underestimated_share(results: Sequence[_LongResult], model: str, scale: float) -> float:
    safe = _safe_rates(model)
    count = sum(long.counted > scale * predict(safe, long.characters) for long in results)
    return round(count / (len(results) or 1), 3)


def _choose_scale(steps: int, logs: int, high: float, p90: float) -> tuple[float, str]:
    """Return the factor for estimates, and the reason for it."""
    if steps < MIN_TO_RAISE[0] or logs < MIN_TO_RAISE[1]:
        evidence = f"{steps} steps of {logs} log{'s' if logs != 1 else ''}"
        return 1.0, f"{evidence} are too little evidence: the safe figures count"
    if high >= 1.0:
        scale = min(MAX_SCALE, round(high, 3))
        finding = f"a brief may take up to {high:.2f} tokens for each that the safe figures say"
        return scale, f"{finding}: estimates are that much longer"
    if high * p90 < 1.0 and steps >= MIN_TO_LOWER[0] and logs >= MIN_TO_LOWER[1]:
        scale = max(MIN_SCALE, round(high * p90, 3))
        return scale, f"nine of ten results take less than {high * p90:.2f} of the safe figures"
    return 1.0, "the safe figures hold, and nothing proves that they are too careful"


def _cross_validate(own: SamplesByLog) -> tuple[list[float], list[_LongResult]]:
    """Return the sorted errors of long steps in held-out logs, and the long results there."""
    groups = _split_folds(own)
    errors: list[float] = []
    results: list[_LongResult] = []
    for group in groups if len(groups) > 1 else ():
        fitted = _fit(_without(groups, group), _kind_row)
        for step in group:
            if step.tokens >= MIN_LONG_TOKENS:
                predicted = predict(fitted, _kind_row(step))
                errors.append(abs(predicted - step.tokens) / step.tokens)
        results += _long_results(group, fitted)
    return sorted(errors), results


def _chars_per_token(rate: float) -> float:
    return round(1 / rate, 2) if rate else 0.0


def _class_share(steps: Sequence[Sample], index: int) -> float:
    """Return the share of a content class in all characters."""
    total = sum(sum(step.characters) for step in steps)
    return sum(step.characters[index] for step in steps) / (total or 1)


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
