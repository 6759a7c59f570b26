"""Means and confidence intervals."""

from __future__ import annotations

import pytest

from holdfast.eval.statistics import (
    Key,
    bootstrap_interval,
    estimate,
    estimate_pooled,
    mean_by_session,
    resampling_unit,
)


def values_of(repository: str, session: str, *values: float) -> list[tuple[Key, float]]:
    return [((repository, session), value) for value in values]


def test_a_session_with_many_cuts_counts_once() -> None:
    values = [*values_of("r", "a", 1.0, 1.0, 1.0, 1.0), *values_of("r", "b", 0.0)]
    assert mean_by_session(values) == {("r", "a"): 1.0, ("r", "b"): 0.0}
    result = estimate(values)
    assert (result.mean, result.sessions, result.cuts) == (0.5, 2, 5)


def test_the_interval_contains_the_mean_and_is_deterministic() -> None:
    values = [pair for n in range(20) for pair in values_of("r", str(n), n / 20)]
    result = estimate(values)
    assert result.low is not None
    assert result.high is not None
    assert result.low < result.mean < result.high
    # The standard error of 20 evenly spread values is 0.066; the interval is about four times that.
    assert result.high - result.low == pytest.approx(4 * 0.066, abs=0.03)
    assert estimate(values) == result


def test_one_session_has_no_interval() -> None:
    assert bootstrap_interval({("r", "a"): 0.5}) == (None, None)


def test_with_ten_repositories_whole_repositories_are_resampled() -> None:
    few = {(str(n % 9), str(n)): float(n % 9 > 4) for n in range(90)}
    many = {(str(n % 10), str(n)): float(n % 10 > 4) for n in range(100)}
    assert (resampling_unit(few), resampling_unit(many)) == ("session", "repository")
    narrow, wide = bootstrap_interval(few), bootstrap_interval(many)
    assert wide[1] - wide[0] > 2 * (narrow[1] - narrow[0])  # type: ignore[operator]


def test_an_estimate_has_the_mean_of_the_worst_decile() -> None:
    values = [pair for n in range(20) for pair in values_of("r", str(n), float(n))]
    assert estimate(values).worst_decile == 0.5


def test_a_pooled_estimate_weighs_sessions_by_their_number_of_values() -> None:
    values = [*values_of("r", "a", 1.0, 1.0, 1.0), *values_of("r", "b", 0.0)]
    result = estimate_pooled(values)
    assert (result.mean, result.sessions, result.values) == (0.75, 2, 4)
    # A resample has one session twice, or both.
    assert (result.low, result.high) == (0.0, 1.0)


def test_a_pooled_estimate_resamples_sessions_even_if_there_are_many_repositories() -> None:
    values = [pair for n in range(40) for pair in values_of(str(n % 10), str(n), float(n % 10 > 4))]
    result = estimate_pooled(values)
    assert result.low is not None
    assert result.high is not None
    # Four standard errors of 40 independent halves are 0.32; ten whole repositories give 0.63.
    assert result.high - result.low == pytest.approx(0.32, abs=0.05)


def test_a_pooled_estimate_of_one_session_or_of_nothing_has_no_interval() -> None:
    one = estimate_pooled(values_of("r", "a", 1.0, 0.0))
    assert (one.mean, one.low, one.high) == (0.5, None, None)
    assert estimate_pooled([]).values == 0
