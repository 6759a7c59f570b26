"""Means over sessions, with bootstrap intervals.

Repositories are resampled, or sessions if there are too few repositories.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

RESAMPLES = 10_000
SEED = 20_261_116
MIN_REPOSITORIES = 10
Key = tuple[str, str]  # repository, session


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A mean over sessions with its 95 % interval; no interval for a single unit."""

    mean: float
    low: float | None
    high: float | None
    sessions: int
    cuts: int
    worst_decile: float


def mean_by_session(values: Iterable[tuple[Key, float]]) -> dict[Key, float]:
    """Return the mean over the cuts of each session."""
    by_session: dict[Key, list[float]] = defaultdict(list)
    for key, value in values:
        by_session[key].append(value)
    return {key: sum(group) / len(group) for key, group in sorted(by_session.items())}


def estimate(values: Sequence[tuple[Key, float]], *, with_interval: bool = True) -> Estimate:
    means = mean_by_session(values)
    low, high = bootstrap_interval(means) if with_interval else (None, None)
    return Estimate(
        mean=_mean(means.values()),
        low=low,
        high=high,
        sessions=len(means),
        cuts=len(values),
        worst_decile=_mean(_worst_decile(means.values())),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One method against another on the same sessions."""

    mean: float
    low: float | None
    high: float | None
    sessions: int
    missing: int  # sessions that only one of the two has
    win_rate: float  # ties count half
    worst_decile: float
    p: float | None  # two-sided, by the same resampling; None for a single unit


def compare_paired(
    ours: Sequence[tuple[Key, float]], theirs: Sequence[tuple[Key, float]]
) -> Difference:
    first, second = mean_by_session(ours), mean_by_session(theirs)
    gains = {key: first[key] - second[key] for key in first if key in second}
    resampled = _resample_means(gains)
    low, high = _bounds(resampled)
    wins = sum(1.0 if gain > 0 else 0.5 if gain == 0 else 0.0 for gain in gains.values())
    return Difference(
        mean=_mean(gains.values()),
        low=low,
        high=high,
        sessions=len(gains),
        missing=len(first.keys() ^ second.keys()),
        win_rate=wins / len(gains) if gains else 0.0,
        worst_decile=_mean(_worst_decile(gains.values())),
        p=_p_value(resampled),
    )


def bootstrap_interval(means: Mapping[Key, float]) -> tuple[float | None, float | None]:
    """Return the 95 % interval by the percentile bootstrap, always with the same seed."""
    return _bounds(_resample_means(means))


def adjust_holm(p_values: Sequence[float]) -> list[float]:
    """Return the p values adjusted by Holm's method, in the order given."""
    adjusted = [1.0] * len(p_values)
    highest = 0.0
    for rank, at in enumerate(sorted(range(len(p_values)), key=lambda at: (p_values[at], at))):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[at]))
        adjusted[at] = highest
    return adjusted


def _bounds(resampled: Sequence[float]) -> tuple[float | None, float | None]:
    if not resampled:
        return None, None
    return resampled[int(0.025 * len(resampled))], resampled[int(0.975 * len(resampled)) - 1]


def _p_value(resampled: Sequence[float]) -> float | None:
    """Return the two-sided p value of the difference."""
    if not resampled:
        return None
    below = sum(value <= 0 for value in resampled)
    above = sum(value >= 0 for value in resampled)
    return min(1.0, 2 * (min(below, above) + 1) / (len(resampled) + 1))


def _worst_decile(values: Iterable[float]) -> list[float]:
    ordered = sorted(values)
    return ordered[: max(1, len(ordered) // 10)]


def _resample_means(means: Mapping[Key, float]) -> list[float]:
    """Return the sorted means of all resamples; empty for a single unit."""
    groups = _group_means(means)
    if len(groups) < 2:
        return []
    if len(set(means.values())) == 1:
        return [next(iter(means.values()))] * RESAMPLES
    sums, sizes = [sum(group) for group in groups], [len(group) for group in groups]
    draws = _draw_samples(len(groups))
    if max(sizes) == 1:
        return sorted(sum(map(sums.__getitem__, draw)) / len(draw) for draw in draws)
    return sorted(
        sum(map(sums.__getitem__, draw)) / sum(map(sizes.__getitem__, draw)) for draw in draws
    )


def resampling_unit(keys: Iterable[Key]) -> str:
    """Return what is resampled: repositories or sessions."""
    has_enough = len({repository for repository, _ in keys}) >= MIN_REPOSITORIES
    return "repository" if has_enough else "session"


def _group_means(means: Mapping[Key, float]) -> list[list[float]]:
    by_repository = resampling_unit(means) == "repository"
    groups: dict[str | Key, list[float]] = defaultdict(list)
    for key, value in means.items():
        groups[key[0] if by_repository else key].append(value)
    return list(groups.values())


@lru_cache(maxsize=8)
def _draw_samples(units: int) -> list[list[int]]:
    generator = random.Random(SEED)
    return [generator.choices(range(units), k=units) for _ in range(RESAMPLES)]


def _mean(values: Iterable[float]) -> float:
    values = list(values)
    return sum(values) / len(values) if values else 0.0
