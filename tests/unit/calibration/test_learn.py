"""What logs teach about a model, and how careful that makes an estimate."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.calibration.fit import least_squares, trimmed
from holdfast.calibration.learn import Figures, learned
from holdfast.calibration.samples import read
from tests.unit.calibration.logs import MODEL, log


@cache
def taught(ratio: float, *, steps: int = 60, logs: int = 3) -> Figures:
    given = {name: list(read(log(steps, ratio, name=name)).steps) for name in "abcdefgh"[:logs]}
    return learned(given, MODEL)


@given(st.lists(st.floats(0.1, 5), min_size=3, max_size=3))
def test_the_fit_finds_what_the_figures_were_made_of(coefficients: list[float]) -> None:
    rows = [[float(n % 7), float(n % 5), 1.0] for n in range(40)]
    targets = [sum(a * b for a, b in zip(coefficients, row, strict=True)) for row in rows]
    assert least_squares(rows, targets) == pytest.approx(coefficients, rel=1e-3, abs=1e-3)


def test_the_fit_does_not_follow_what_is_far_off() -> None:
    rows = [[float(n), 1.0] for n in range(1, 101)]
    targets = [2 * n + 10 + (5000 if n % 20 == 0 else 0) for n in range(1, 101)]
    assert trimmed(rows, targets) == pytest.approx([2, 10], rel=0.02)


def test_nothing_takes_less_than_no_tokens() -> None:
    rows = [[float(n), float(100 - n), 0.0] for n in range(1, 50)]
    found = least_squares(rows, [float(n) for n in range(1, 50)])
    assert min(found) >= 0
    assert found[2] == 0


@pytest.mark.parametrize("ratio", [1.1, 1.3])
def test_text_that_takes_more_tokens_is_counted_as_more(ratio: float) -> None:
    figures = taught(ratio)
    assert figures.ratio == pytest.approx(ratio, rel=0.03)
    assert figures.scale >= figures.ratio
    assert figures.scale == pytest.approx(ratio, rel=0.05)
    assert figures.short_before == 1.0
    assert figures.short <= figures.short_before


def test_an_absurd_ratio_does_not_empty_the_brief() -> None:
    assert taught(4.0).scale == 1.5


def test_little_evidence_changes_nothing() -> None:
    assert taught(1.3, steps=20, logs=2).scale == 1.0
    assert taught(1.3, steps=200, logs=1).scale == 1.0
    assert "too little evidence" in taught(1.3, steps=20, logs=2).why


def test_less_is_counted_only_on_much_evidence_and_never_below_nine_results_in_ten() -> None:
    assert taught(0.9).scale == 1.0
    much = taught(0.9, steps=80, logs=6)
    assert much.scale == pytest.approx(0.9 * much.p90, rel=0.03)
    assert much.scale < 1.0
    assert taught(0.3, steps=80, logs=6).scale == 0.85


def test_the_same_logs_give_the_same_figures() -> None:
    assert taught.__wrapped__(1.2) == taught.__wrapped__(1.2)


def test_each_model_has_figures_of_its_own() -> None:
    other = "claude-sonnet-5"
    given = {
        name: [
            *read(log(80, 1.3, name=name)).steps,
            *read(log(80, 1.0, name=name, model=other)).steps,
        ]
        for name in "ac"
    }
    assert learned(given, MODEL).scale > 1.2
    assert learned(given, other).scale < 1.1
    assert (learned(given, MODEL).generation, learned(given, other).generation) == (
        "earlier",
        "newest",
    )


def test_steps_without_thinking_are_believed_where_there_are_enough() -> None:
    plain = {name: list(read(log(80, 1.1, name=name)).steps) for name in "ab"}
    thought = [replace(one, tokens=2 * one.tokens, thought=True) for one in plain["a"]]
    assert learned({**plain, "c": thought}, MODEL) == learned(plain, MODEL)
    assert learned({"c": thought, "d": thought[1:]}, MODEL).steps == 2 * len(thought) - 1
