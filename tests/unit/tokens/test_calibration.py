"""Calibration of a model from logs, and the scale of its estimates."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.tokens.calibration import ModelCalibration, calibrate_model
from holdfast.tokens.regression import fit_trimmed, least_squares
from holdfast.tokens.samples import extract_samples
from tests.unit.tokens.logs import MODEL, make_log


@cache
def calibrate(ratio: float, *, steps: int = 60, logs: int = 3) -> ModelCalibration:
    """Calibrate from generated logs whose results have `ratio` times the estimated tokens."""
    samples = {
        name: list(extract_samples(make_log(steps, ratio, name=name)).steps)
        for name in "abcdefgh"[:logs]
    }
    return calibrate_model(samples, MODEL)


@given(st.lists(st.floats(0.1, 5), min_size=3, max_size=3))
def test_the_fit_recovers_the_coefficients(coefficients: list[float]) -> None:
    rows = [[float(n % 7), float(n % 5), 1.0] for n in range(40)]
    targets = [sum(a * b for a, b in zip(coefficients, row, strict=True)) for row in rows]
    assert least_squares(rows, targets) == pytest.approx(coefficients, rel=1e-3, abs=1e-3)


def test_the_fit_ignores_outliers() -> None:
    rows = [[float(n), 1.0] for n in range(1, 101)]
    targets = [2 * n + 10 + (5000 if n % 20 == 0 else 0) for n in range(1, 101)]
    assert fit_trimmed(rows, targets) == pytest.approx([2, 10], rel=0.02)


def test_no_coefficient_is_negative() -> None:
    rows = [[float(n), float(100 - n), 0.0] for n in range(1, 50)]
    coefficients = least_squares(rows, [float(n) for n in range(1, 50)])
    assert min(coefficients) >= 0
    assert coefficients[2] == 0


@pytest.mark.parametrize("ratio", [1.1, 1.3])
def test_estimates_are_raised_for_a_model_with_more_tokens_per_text(ratio: float) -> None:
    figures = calibrate(ratio)
    assert figures.ratio == pytest.approx(ratio, rel=0.03)
    assert figures.scale >= figures.ratio
    assert figures.scale == pytest.approx(ratio, rel=0.05)
    assert figures.short_before == 1.0
    assert figures.short <= figures.short_before


def test_the_scale_has_a_maximum() -> None:
    assert calibrate(4.0).scale == 1.5


def test_few_samples_do_not_change_the_scale() -> None:
    assert calibrate(1.3, steps=20, logs=2).scale == 1.0
    assert calibrate(1.3, steps=200, logs=1).scale == 1.0
    assert "too little evidence" in calibrate(1.3, steps=20, logs=2).why


def test_estimates_are_lowered_only_with_many_samples() -> None:
    assert calibrate(0.9).scale == 1.0
    lowered = calibrate(0.9, steps=80, logs=6)
    assert lowered.scale == pytest.approx(0.9 * lowered.p90, rel=0.03)
    assert lowered.scale < 1.0
    assert calibrate(0.3, steps=80, logs=6).scale == 0.85


def test_the_same_logs_give_the_same_figures() -> None:
    assert calibrate.__wrapped__(1.2) == calibrate.__wrapped__(1.2)


def test_each_model_is_calibrated_separately() -> None:
    other = "claude-sonnet-5"
    samples = {
        name: [
            *extract_samples(make_log(80, 1.3, name=name)).steps,
            *extract_samples(make_log(80, 1.0, name=name, model=other)).steps,
        ]
        for name in "ac"
    }
    assert calibrate_model(samples, MODEL).scale > 1.2
    assert calibrate_model(samples, other).scale < 1.1
    assert (
        calibrate_model(samples, MODEL).generation,
        calibrate_model(samples, other).generation,
    ) == (
        "earlier",
        "newest",
    )


def test_steps_with_thinking_are_ignored_if_there_are_enough_others() -> None:
    plain = {name: list(extract_samples(make_log(80, 1.1, name=name)).steps) for name in "ab"}
    thinking = [
        replace(sample, tokens=2 * sample.tokens, has_thinking=True) for sample in plain["a"]
    ]
    assert calibrate_model({**plain, "c": thinking}, MODEL) == calibrate_model(plain, MODEL)
    assert calibrate_model({"c": thinking, "d": thinking[1:]}, MODEL).steps == 2 * len(thinking) - 1
