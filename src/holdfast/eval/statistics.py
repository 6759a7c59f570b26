"""Means over sessions with intervals: resampled by repository, or by session if there are few."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

RESAMPLES = 10_000
SEED = 20_261_116
ENOUGH_REPOSITORIES = 10
Key = tuple[str, str]  # repository, session


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A macro mean over sessions; the interval is of 95 %, none if there is but one unit."""

    mean: float
    low: float | None
    high: float | None
    sessions: int
    cuts: int
    worst_decile: float


def by_session(values: Iterable[tuple[Key, float]]) -> dict[Key, float]:
    """The mean over a session's cuts."""
    found: dict[Key, list[float]] = defaultdict(list)
    for key, value in values:
        found[key].append(value)
    return {key: sum(each) / len(each) for key, each in sorted(found.items())}


def estimate(values: Sequence[tuple[Key, float]], *, with_interval: bool = True) -> Estimate:
    means = by_session(values)
    low, high = interval(means) if with_interval else (None, None)
    return Estimate(
        mean=_mean(means.values()),
        low=low,
        high=high,
        sessions=len(means),
        cuts=len(values),
        worst_decile=_mean(_worst(means.values())),
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
    p: float | None  # two-sided, by the same resampling; none if there is but one unit


def paired(ours: Sequence[tuple[Key, float]], theirs: Sequence[tuple[Key, float]]) -> Difference:
    first, second = by_session(ours), by_session(theirs)
    gains = {key: first[key] - second[key] for key in first if key in second}
    drawn = _resampled(gains)
    low, high = _bounds(drawn)
    wins = sum(1.0 if gain > 0 else 0.5 if gain == 0 else 0.0 for gain in gains.values())
    return Difference(
        mean=_mean(gains.values()),
        low=low,
        high=high,
        sessions=len(gains),
        missing=len(first.keys() ^ second.keys()),
        win_rate=wins / len(gains) if gains else 0.0,
        worst_decile=_mean(_worst(gains.values())),
        p=_chance(drawn),
    )


def interval(means: Mapping[Key, float]) -> tuple[float | None, float | None]:
    """The percentile bootstrap, always with the same seed."""
    return _bounds(_resampled(means))


def holm(chances: Sequence[float]) -> list[float]:
    """Adjusted for asking many questions: the smallest is multiplied by their number, and so on."""
    adjusted = [1.0] * len(chances)
    highest = 0.0
    for rank, at in enumerate(sorted(range(len(chances)), key=lambda at: (chances[at], at))):
        highest = max(highest, min(1.0, (len(chances) - rank) * chances[at]))
        adjusted[at] = highest
    return adjusted


def _bounds(drawn: Sequence[float]) -> tuple[float | None, float | None]:
    if not drawn:
        return None, None
    return drawn[int(0.025 * len(drawn))], drawn[int(0.975 * len(drawn)) - 1]


def _chance(drawn: Sequence[float]) -> float | None:
    """How likely so large a difference is if there is none."""
    if not drawn:
        return None
    below, above = sum(value <= 0 for value in drawn), sum(value >= 0 for value in drawn)
    return min(1.0, 2 * (min(below, above) + 1) / (len(drawn) + 1))


def _worst(values: Iterable[float]) -> list[float]:
    ordered = sorted(values)
    return ordered[: max(1, len(ordered) // 10)]


def _resampled(means: Mapping[Key, float]) -> list[float]:
    """The means of all resamples, in order; none if there is but one unit."""
    groups = _groups(means)
    if len(groups) < 2:
        return []
    if len(set(means.values())) == 1:
        return [next(iter(means.values()))] * RESAMPLES
    sums, sizes = [sum(group) for group in groups], [len(group) for group in groups]
    draws = _draws(len(groups))
    if max(sizes) == 1:
        return sorted(sum(map(sums.__getitem__, draw)) / len(draw) for draw in draws)
    return sorted(
        sum(map(sums.__getitem__, draw)) / sum(map(sizes.__getitem__, draw)) for draw in draws
    )


def unit(keys: Iterable[Key]) -> str:
    """What is resampled."""
    many = len({repository for repository, _ in keys}) >= ENOUGH_REPOSITORIES
    return "repository" if many else "session"


def _groups(means: Mapping[Key, float]) -> list[list[float]]:
    by_repository = unit(means) == "repository"
    groups: dict[str | Key, list[float]] = defaultdict(list)
    for key, value in means.items():
        groups[key[0] if by_repository else key].append(value)
    return list(groups.values())


@lru_cache(maxsize=8)
def _draws(units: int) -> list[list[int]]:
    chance = random.Random(SEED)
    return [chance.choices(range(units), k=units) for _ in range(RESAMPLES)]


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0
