"""Means, confidence intervals and paired differences."""

from __future__ import annotations

import pytest

from holdfast.eval.statistics import (
    Key,
    adjust_holm,
    bootstrap_interval,
    compare_paired,
    estimate,
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


def test_differences_are_paired_by_session() -> None:
    ours = [
        *values_of("r", "a", 0.9),
        *values_of("r", "b", 0.5),
        *values_of("r", "c", 0.2),
        *values_of("r", "only", 1.0),
    ]
    theirs = [*values_of("r", "a", 0.4), *values_of("r", "b", 0.5), *values_of("r", "c", 0.3)]
    result = compare_paired(ours, theirs)
    assert result.sessions == 3
    assert result.mean == pytest.approx((0.5 + 0.0 - 0.1) / 3)
    assert result.win_rate == pytest.approx(0.5)
    assert result.missing == 1
    assert result.worst_decile == pytest.approx(-0.1)


def test_an_estimate_has_the_mean_of_the_worst_decile() -> None:
    values = [pair for n in range(20) for pair in values_of("r", str(n), float(n))]
    assert estimate(values).worst_decile == 0.5


def test_a_difference_in_every_session_has_the_smallest_p_value() -> None:
    ours = [pair for n in range(20) for pair in values_of("r", str(n), 0.5 + n / 100)]
    theirs = [pair for n in range(20) for pair in values_of("r", str(n), 0.4)]
    assert compare_paired(ours, theirs).p == pytest.approx(2 / 10_001)
    assert compare_paired(theirs, ours).p == pytest.approx(2 / 10_001)


def test_equal_values_have_p_1_and_one_session_has_no_p_value() -> None:
    same = [pair for n in range(5) for pair in values_of("r", str(n), 0.5)]
    assert compare_paired(same, same).p == 1.0
    assert compare_paired(values_of("r", "a", 1.0), values_of("r", "a", 0.0)).p is None


def test_p_values_are_adjusted_by_the_holm_method() -> None:
    assert adjust_holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert adjust_holm([0.5, 0.9]) == [1.0, 1.0]
    assert adjust_holm([]) == []
