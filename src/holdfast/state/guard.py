"""When to save, and when to suggest a compaction: thresholds that each count once.

Pure. What has been done since the last compaction is one JSON object that hooks keep in the
store, because each of them is a process of its own.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from holdfast.settings import Settings
    from holdfast.state.model import State, Usage

MARK = "guard"
# A turn that adds less than this is never worth a save of its own.
SMALL_TURN = 5000


def renewed(guard: dict[str, Any], compactions: int) -> dict[str, Any]:
    """What holds now: a compaction begins all thresholds anew."""
    if guard.get("compactions", 0) < compactions or "saved" not in guard:
        return {"compactions": compactions, "saved": [], "suggested": 0, "zone": 0}
    return guard


def zone(percent: float, zones: Sequence[int]) -> int:
    """0 for the lowest, one more for each border that is passed."""
    return sum(percent >= border for border in zones)


def percent_of(usage: Usage) -> float:
    return 100 * usage["context"] / usage["window"] if usage["window"] else 0.0


def due(guard: dict[str, Any], tokens: int, remaining: float, chosen: Settings) -> list[str]:
    """The names of the thresholds that were passed and not saved at yet."""
    names = [f"remaining {share} %" for share in chosen.save_at_remaining if remaining <= share]
    first, step = chosen.save_from_tokens, chosen.save_every_tokens
    if tokens >= first:
        names.append(f"{first + (tokens - first) // step * step} tokens")
    saved = guard.get("saved", [])
    return [name for name in names if name not in saved]


def growth_due(guard: dict[str, Any], usage: Usage, chosen: Settings) -> list[str]:
    """A turn that added far more than turns did so far, once for each."""
    added = usage["context"] - usage["at_prompt"]
    expected = usage["growth"] * chosen.save_on_growth
    if not usage["at_prompt"] or not expected or added <= max(expected, SMALL_TURN):
        return []
    name = f"growth from {usage['at_prompt']}"
    return [] if name in guard.get("saved", []) else [name]


def limit(state: State) -> int:
    """How full the context was when the host last compacted by itself, or 0."""
    automatic = [one["before"] for one in state["compactions"] if one["trigger"] == "auto"]
    return automatic[-1] if automatic else 0


def suggestion(guard: dict[str, Any], state: State, chosen: Settings) -> str:
    """Why now is a good moment to compact, or nothing. Notes in `guard` that it was said."""
    seen = guard.get("seen", {})
    guard["seen"] = now = _counts(state)
    usage = state["usage"]
    level = zone(percent_of(usage), chosen.zones)
    why = ""
    if level >= 2 and level > guard.get("zone", 0):
        reached = [words for name, words in BREAKPOINTS if now[name] > seen.get(name, now[name])]
        if reached:
            guard["zone"] = level
            why = f"{reached[0]}, and the context is {percent_of(usage):.0f} % full"
    calls = usage["calls_since_compaction"]
    step = _step(calls, chosen.suggest_at_calls, chosen.suggest_every_calls)
    if step > guard.get("suggested", 0):
        guard["suggested"] = step
        why = why or f"{calls} tool calls since the last compaction"
    return why


BREAKPOINTS = (
    ("done", "a plan item is finished"),
    ("commits", "a commit was made"),
    ("green", "the tests pass"),
)


def _counts(state: State) -> dict[str, int]:
    """Grow when something is finished."""
    green = [check["line"] for check in state["checks"] if check["ok"] and check["kind"] == "test"]
    failing = any(not check["ok"] and check["kind"] == "test" for check in state["checks"])
    return {
        "done": sum(item["status"] == "completed" for item in state["plan"]),
        "commits": state["commits"][-1]["line"] if state["commits"] else 0,
        "green": 0 if failing else max(green, default=0),
    }


def _step(calls: int, named: Sequence[int], every: int) -> int:
    """The highest of the named numbers that was reached, or of those that follow them."""
    last = max(named, default=0)
    if calls >= last and every:
        return last + (calls - last) // every * every
    return max((number for number in named if number <= calls), default=0)
