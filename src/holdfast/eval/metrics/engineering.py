"""M10: budgets kept, the host's cap kept, the same bytes every time, and shorter than its input."""

from __future__ import annotations

from holdfast.eval.arms import CHARACTERS, Told
from holdfast.eval.budget import FLAT


def engineering(told: Told, characters_before: int) -> dict[str, float]:
    units = len(told.ours.encode("utf-16-le", "surrogatepass")) // 2
    return {
        "overshoots": float(max(told.tokens, len(told.ours) / FLAT) > told.budget),
        "over_cap": float(units > CHARACTERS),
        "not_repeatable": float(told.ours != told.again),
        "not_shorter": float(len(told.ours) >= characters_before),
        "seconds": told.seconds,
    }
