"""The size of the context, from the token counts that the host logs with each message."""

from __future__ import annotations

import pytest

from tests.unit.transcript_lines import (
    Line,
    bash,
    boundary,
    call,
    state_of,
    summary,
    tool_use,
    usage_line,
    user,
)


def test_the_context_size_is_that_of_the_last_message() -> None:
    cases = [
        ([], 0),
        ([usage_line(21_400)], 21_400),
        ([usage_line(21_400), usage_line(30_000)], 30_000),
        # One message is written in several lines, each with the whole usage.
        ([usage_line(21_400), usage_line(21_400)], 21_400),
        ([usage_line(21_400), usage_line(0)], 21_400),
        ([usage_line(21_400), usage_line(9, model="<synthetic>")], 21_400),
        ([usage_line(21_400), {**usage_line(900), "isSidechain": True}], 21_400),
        ([usage_line(150_000), boundary(postTokens=7_500)], 7_500),
        ([usage_line(150_000), boundary()], 0),
        ([usage_line(150_000), boundary(postTokens=7_500), summary(), usage_line(34_000)], 34_000),
    ]
    for lines, context in cases:
        assert state_of(*lines)["usage"]["context"] == context, lines


def test_the_id_model_and_line_of_the_last_message_are_recorded() -> None:
    lines = [user("go"), usage_line(9, id="msg_7", model="claude-opus-4-6"), user("on")]
    usage = state_of(*lines)["usage"]
    assert (usage["message"], usage["model"], usage["line"]) == ("msg_7", "claude-opus-4-6", 2)
    usage = state_of(*lines, usage_line(10, id="msg_8", model=None))["usage"]
    assert (usage["message"], usage["model"], usage["line"]) == ("msg_8", "claude-opus-4-6", 4)


@pytest.mark.parametrize(
    ("lines", "window"),
    [
        ([usage_line(200_000)], 200_000),
        ([usage_line(200_001)], 1_000_000),
        ([usage_line(9, model="claude-sonnet-4-5[1m]")], 1_000_000),
        ([usage_line(300_000), boundary(postTokens=9), usage_line(20_000)], 1_000_000),
    ],
)
def test_the_window_grows_when_the_context_exceeds_it(lines: list[Line], window: int) -> None:
    assert state_of(*lines)["usage"]["window"] == window


@pytest.mark.parametrize(
    ("lines", "calls", "calls_since"),
    [
        ([*bash("ls"), *tool_use("Read", {"file_path": "a"})], 2, 2),
        ([*bash("ls"), boundary(), summary(), *bash("ls"), call("Bash", {})], 3, 2),
        ([*bash("ls"), summary(), *bash("ls")], 2, 1),
        ([*bash("ls"), boundary(), *bash("ls")], 2, 1),
        ([*bash("ls"), {**call("Bash", {}), "isSidechain": True}], 1, 1),
    ],
)
def test_tool_calls_are_counted_in_total_and_since_the_compaction(
    lines: list[Line], calls: int, calls_since: int
) -> None:
    usage = state_of(*lines)["usage"]
    assert (usage["tool_calls"], usage["calls_since_compaction"]) == (calls, calls_since)


def growth(*contexts: int) -> int:
    lines = [line for context in contexts for line in (user("go on"), usage_line(context))]
    return state_of(*lines, user("and then?"))["usage"]["growth"]


@pytest.mark.parametrize(
    ("contexts", "expected"),
    [
        ((), 0),
        ((10_000,), 0),
        ((10_000, 14_000), 4_000),
        ((10_000, 14_000, 28_000), 7_000),
        # A turn that made the context smaller does not count.
        ((10_000, 14_000, 12_000), 4_000),
    ],
)
def test_growth_is_the_average_increase_per_turn(contexts: tuple[int, ...], expected: int) -> None:
    assert growth(*contexts) == expected


def test_a_compaction_does_not_count_as_growth() -> None:
    lines = [
        user("a"),
        usage_line(10_000),
        user("b"),
        usage_line(14_000),
        user("c"),
        boundary(),
        summary(),
    ]
    assert state_of(*lines, usage_line(90_000), user("d"))["usage"]["growth"] == 4_000
