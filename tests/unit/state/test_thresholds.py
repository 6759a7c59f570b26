"""Thresholds for snapshots and suggestions: each triggers once until a compaction."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import settings
from holdfast.state.fold import new_state
from holdfast.state.thresholds import (
    due_growth_threshold,
    due_thresholds,
    last_auto_compaction_tokens,
    reset_after_compaction,
    suggest_compaction,
    zone_index,
)
from holdfast.state.types import State

DEFAULT_SETTINGS = settings.load({"HOLDFAST_HOME": "/nowhere"})


def new_guard() -> dict[str, Any]:
    return dict(reset_after_compaction({}, 0))


@pytest.mark.parametrize(
    ("tokens", "remaining", "names"),
    [
        (10_000, 95, []),
        (49_999, 75, []),
        (50_000, 75, ["50000 tokens"]),
        (78_000, 61, ["70000 tokens"]),
        (141_000, 29.5, ["remaining 30 %", "140000 tokens"]),
        (191_000, 4, ["remaining 30 %", "remaining 15 %", "remaining 5 %", "190000 tokens"]),
    ],
)
def test_thresholds_by_remaining_percent_and_by_tokens(
    tokens: int, remaining: float, names: list[str]
) -> None:
    assert due_thresholds(new_guard(), tokens, remaining, DEFAULT_SETTINGS) == names


def test_each_threshold_triggers_once_until_a_compaction() -> None:
    guard = new_guard() | {"saved": ["remaining 30 %", "140000 tokens"]}
    assert due_thresholds(guard, 145_000, 27, DEFAULT_SETTINGS) == []
    assert due_thresholds(guard, 150_000, 25, DEFAULT_SETTINGS) == ["150000 tokens"]
    assert reset_after_compaction(guard, 0) is guard
    assert due_thresholds(reset_after_compaction(guard, 1), 145_000, 27, DEFAULT_SETTINGS) == [
        "remaining 30 %",
        "140000 tokens",
    ]


def test_thresholds_come_from_the_settings() -> None:
    custom_settings = settings.load(
        {
            "HOLDFAST_HOME": "/nowhere",
            "HOLDFAST_SAVE_AT_REMAINING": "60",
            "HOLDFAST_SAVE_FROM_TOKENS": "1000",
            "HOLDFAST_SAVE_EVERY_TOKENS": "2000",
        }
    )
    assert due_thresholds(new_guard(), 3500, 60, custom_settings) == [
        "remaining 60 %",
        "3000 tokens",
    ]


@pytest.mark.parametrize(
    ("at_prompt", "context", "growth", "is_due"),
    [
        (40_000, 48_000, 2_000, True),
        (40_000, 46_000, 2_000, False),
        (40_000, 44_000, 500, False),
        (0, 48_000, 2_000, False),
        (40_000, 48_000, 0, False),
    ],
)
def test_a_turn_that_grows_much_faster_than_usual_is_saved_once(
    at_prompt: int, context: int, growth: int, is_due: bool
) -> None:
    usage = new_state()["usage"] | {"at_prompt": at_prompt, "context": context, "growth": growth}
    names = due_growth_threshold(new_guard(), usage, DEFAULT_SETTINGS)  # type: ignore[arg-type]
    assert names == (["growth from 40000"] if is_due else [])
    assert due_growth_threshold({"saved": names}, usage, DEFAULT_SETTINGS) == []  # type: ignore[arg-type]


def test_zones_are_counted_from_the_lowest() -> None:
    borders = (50, 70, 85, 95)
    assert [zone_index(share, borders) for share in (0, 50, 69.9, 70, 85, 99)] == [0, 1, 1, 2, 3, 4]


def test_the_limit_of_the_host_is_the_size_at_its_last_auto_compaction() -> None:
    state = new_state()
    assert last_auto_compaction_tokens(state) == 0
    state["compactions"] = [
        {"trigger": trigger, "before": before}  # type: ignore[typeddict-item]
        for trigger, before in (("auto", 150_000), ("auto", 167_000), ("manual", 90_000))
    ]
    assert last_auto_compaction_tokens(state) == 167_000


# Suggestions


def state_with_usage(calls: int, context: int = 10_000, **parts: Any) -> State:
    state: State = {**new_state(), **parts}  # type: ignore[typeddict-item]
    state["usage"] |= {"calls_since_compaction": calls, "context": context}
    return state


def test_each_number_of_calls_suggests_a_compaction_once() -> None:
    guard = new_guard()
    suggestions = {
        calls: suggest_compaction(guard, state_with_usage(calls), DEFAULT_SETTINGS)
        for calls in (10, 49, 50, 51, 99, 120, 149, 151, 199, 200, 249, 260)
    }
    assert [calls for calls, text in suggestions.items() if text] == [50, 120, 151, 200, 260]
    assert suggestions[120] == "120 tool calls since the last compaction"


PLAN = {"id": "1", "text": "x", "line": 1, "blocked_by": []}
CHECK = {"command": "make test", "kind": "test", "line": 9, "runs": 1, "error": [], "where": ""}
ORANGE_TOKENS, RED_TOKENS = 150_000, 175_000


@pytest.mark.parametrize(
    ("before", "now", "suggestion"),
    [
        (
            {"plan": [{**PLAN, "status": "in_progress"}]},
            {"plan": [{**PLAN, "status": "completed"}]},
            "a plan item is finished, and the context is 75 % full",
        ),
        (
            {},
            {"commits": [{"sha": "abc1234", "subject": "x", "line": 4}]},
            "a commit was made, and the context is 75 % full",
        ),
        (
            {"checks": [{**CHECK, "ok": False}]},
            {"checks": [{**CHECK, "ok": True}]},
            "the tests pass, and the context is 75 % full",
        ),
        ({}, {}, ""),
    ],
)
def test_from_the_orange_zone_on_a_finished_item_suggests_a_compaction(
    before: dict[str, Any], now: dict[str, Any], suggestion: str
) -> None:
    guard = new_guard()
    assert (
        suggest_compaction(guard, state_with_usage(5, ORANGE_TOKENS, **before), DEFAULT_SETTINGS)
        == ""
    )
    assert (
        suggest_compaction(guard, state_with_usage(6, ORANGE_TOKENS, **now), DEFAULT_SETTINGS)
        == suggestion
    )


def test_a_zone_suggests_once_and_zones_below_orange_never() -> None:
    def commits(count: int) -> list[dict[str, Any]]:
        return [{"sha": "abc1234", "subject": "x", "line": n} for n in range(1, count + 1)]

    guard = new_guard()
    context_sizes = [100_000, 100_000, ORANGE_TOKENS, ORANGE_TOKENS, RED_TOKENS, RED_TOKENS]
    suggested = [
        bool(
            suggest_compaction(
                guard, state_with_usage(1, context, commits=commits(n)), DEFAULT_SETTINGS
            )
        )
        for n, context in enumerate(context_sizes)
    ]
    assert suggested == [False, False, True, False, True, False]
