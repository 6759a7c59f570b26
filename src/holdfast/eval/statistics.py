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
class PooledEstimate:
    """A mean over all values with its 95 % interval by session; none for a single session."""

    mean: float
    low: float | None
    high: float | None
    sessions: int
    values: int


def estimate_pooled(values: Iterable[tuple[Key, float]]) -> PooledEstimate:
    """Return the mean over all values. Sessions are resampled, each with all of its values."""
    by_session: dict[Key, list[float]] = defaultdict(list)
    for key, value in values:
        by_session[key].append(value)
    groups = [by_session[key] for key in sorted(by_session)]
    low, high = _bounds(_resample_groups(groups))
    pooled = [value for group in groups for value in group]
    return PooledEstimate(
        mean=_mean(pooled), low=low, high=high, sessions=len(groups), values=len(pooled)
    )


def bootstrap_interval(means: Mapping[Key, float]) -> tuple[float | None, float | None]:
    """Return the 95 % interval by the percentile bootstrap, always with the same seed."""
    return _bounds(_resample_means(means))


def _bounds(resampled: Sequence[float]) -> tuple[float | None, float | None]:
    if not resampled:
        return None, None
    return resampled[int(0.025 * len(resampled))], resampled[int(0.975 * len(resampled)) - 1]


def _worst_decile(values: Iterable[float]) -> list[float]:
    ordered = sorted(values)
    return ordered[: max(1, len(ordered) // 10)]


def _resample_means(means: Mapping[Key, float]) -> list[float]:
    """Return the sorted means of all resamples of repositories or sessions."""
    return _resample_groups(_group_means(means))


def _resample_groups(groups: list[list[float]]) -> list[float]:
    """Return the sorted means of all resamples of the groups; empty for a single group."""
    if len(groups) < 2:
        return []
    if len({value for group in groups for value in group}) == 1:
        return [groups[0][0]] * RESAMPLES
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
