"""Decide when to save a snapshot and when to suggest a compaction. Pure.

Each threshold applies once between two compactions. The thresholds that were applied are kept in a
dict called `guard`, which is JSON: each hook is a process of its own and reads it from the store.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from holdfast.settings import Settings
    from holdfast.state.types import ContextUsage, State

# The key of the guard in the store.
GUARD_KEY = "guard"
# A turn that adds less is never worth a snapshot of its own.
MIN_GROWTH_TOKENS = 5000
BREAKPOINTS = (
    ("done", "a plan item is finished"),
    ("commits", "a commit was made"),
    ("green", "the tests pass"),
)


def reset_after_compaction(guard: dict[str, Any], compactions: int) -> dict[str, Any]:
    """Return the guard, or a new one if there was a compaction: all thresholds start over."""
    if guard.get("compactions", 0) < compactions or "saved" not in guard:
        return {"compactions": compactions, "saved": [], "suggested": 0, "zone": 0}
    return guard


def zone_index(percent: float, borders: Sequence[int]) -> int:
    """Return 0 for the lowest zone, and one more for each border that is reached."""
    return sum(percent >= border for border in borders)


def percent_used(usage: ContextUsage) -> float:
    """Return how full the context window is."""
    return 100 * usage["context"] / usage["window"] if usage["window"] else 0.0


def due_thresholds(
    guard: dict[str, Any], tokens: int, remaining: float, settings: Settings
) -> list[str]:
    """Return the names of the thresholds that were passed and have no snapshot yet.

    `remaining` is the free part of the context in percent.
    """
    names = [f"remaining {share} %" for share in settings.save_at_remaining if remaining <= share]
    first, step = settings.save_from_tokens, settings.save_every_tokens
    if tokens >= first:
        names.append(f"{first + (tokens - first) // step * step} tokens")
    saved = guard.get("saved", [])
    return [name for name in names if name not in saved]


def due_growth_threshold(
    guard: dict[str, Any], usage: ContextUsage, settings: Settings
) -> list[str]:
    """Return a threshold if this turn added far more than the average turn, once per turn."""
    added = usage["context"] - usage["at_prompt"]
    expected = usage["growth"] * settings.save_on_growth
    if not usage["at_prompt"] or not expected or added <= max(expected, MIN_GROWTH_TOKENS):
        return []
    name = f"growth from {usage['at_prompt']}"
    return [] if name in guard.get("saved", []) else [name]


def last_auto_compaction_tokens(state: State) -> int:
    """Return how full the context was when the host last compacted by itself, or 0."""
    sizes = [
        compaction["before"]
        for compaction in state["compactions"]
        if compaction["trigger"] == "auto"
    ]
    return sizes[-1] if sizes else 0


def suggest_compaction(guard: dict[str, Any], state: State, settings: Settings) -> str:
    """Return why now is a good moment to compact, or "". Records the suggestion in `guard`."""
    before = guard.get("seen", {})
    guard["seen"] = now = _count_finished(state)
    usage = state["usage"]
    zone = zone_index(percent_used(usage), settings.zones)
    reason = ""
    if zone >= 2 and zone > guard.get("zone", 0):
        reached = [text for name, text in BREAKPOINTS if now[name] > before.get(name, now[name])]
        if reached:
            guard["zone"] = zone
            reason = f"{reached[0]}, and the context is {percent_used(usage):.0f} % full"
    calls = usage["calls_since_compaction"]
    step = _find_step(calls, settings.suggest_at_calls, settings.suggest_every_calls)
    if step > guard.get("suggested", 0):
        guard["suggested"] = step
        reason = reason or f"{calls} tool calls since the last compaction"
    return reason


def _count_finished(state: State) -> dict[str, int]:
    """Return numbers that grow whenever something is finished, by the names in BREAKPOINTS."""
    green = [check["line"] for check in state["checks"] if check["ok"] and check["kind"] == "test"]
    failing = any(not check["ok"] and check["kind"] == "test" for check in state["checks"])
    return {
        "done": sum(item["status"] == "completed" for item in state["plan"]),
        "commits": state["commits"][-1]["line"] if state["commits"] else 0,
        "green": 0 if failing else max(green, default=0),
    }


def _find_step(calls: int, steps: Sequence[int], every: int) -> int:
    """Return the highest step reached; after the last one a new step follows `every` calls."""
    last = max(steps, default=0)
    if calls >= last and every:
        return last + (calls - last) // every * every
    return max((step for step in steps if step <= calls), default=0)
