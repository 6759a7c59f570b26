"""What was added to the context between two calls, and what the host counted for it."""

from __future__ import annotations

import pytest

from holdfast.calibration.samples import Sample, parts, read
from tests.unit.calibration.logs import MODEL, spoken
from tests.unit.transcript_lines import Line, attachment, boundary, result, summary, text, user


def steps(*lines: Line) -> list[tuple[int, tuple[int, ...]]]:
    return [(one.tokens, one.characters) for one in read(lines).steps]


def test_a_step_is_what_two_calls_differ_by() -> None:
    use = {"type": "tool_use", "id": "t", "name": "Read", "input": {"a": "b"}}
    lines = [
        user("Go on."),
        spoken(1000, "one", text("I look."), use),
        result("four"),
        user("Well?"),
        spoken(1100, "two"),
    ]
    assert steps(*lines) == [(100, (7, len('Read {"a": "b"}'), 4, 5))]
    assert read(lines).steps[0] == Sample(
        model=MODEL,
        tokens=100,
        characters=(7, 15, 4, 5),
        parts=(0, 5, 0, 0, 0),
        blocks=4,
    )


def test_a_message_in_several_lines_is_one_call() -> None:
    first = spoken(1000, "one", text("I look."))
    again = {**spoken(1000, "one", text("And see."), output=90), "uuid": "other"}
    assert steps(first, again, result("four"), spoken(1100, "two")) == [(100, (15, 0, 4, 0))]


def test_a_line_that_was_written_twice_counts_once() -> None:
    answer = result("four", uuid="same")
    assert steps(spoken(1000, "one"), answer, answer, spoken(1100, "two")) == [(100, (0, 0, 4, 0))]


@pytest.mark.parametrize(
    "between",
    [
        [boundary(trigger="auto")],
        [summary()],
        [spoken(900, "other", model="claude-haiku-4-5")],
        [attachment("edited_text_file", content="x")],
        [result([{"type": "image", "source": {}}])],
        [user([{"type": "document"}])],
    ],
)
def test_what_cannot_be_accounted_for_is_no_step(between: list[Line]) -> None:
    assert steps(spoken(1000, "one"), *between, spoken(1100, "two")) == []


def test_a_context_that_shrank_or_a_sub_agent_is_no_step() -> None:
    assert steps(spoken(1000, "one"), result("four"), spoken(900, "two")) == []
    assert steps(spoken(1000, "one"), spoken(5000, "two", isSidechain=True)) == []


def test_the_count_before_a_compaction_is_set_beside_ours() -> None:
    lines = [spoken(1000, "one"), result("a " * 150), boundary(preTokens=1090)]
    ((ours, theirs),) = read(lines).compactions
    assert theirs == 1090
    assert 1050 < ours < 1150


@pytest.mark.parametrize("line", [{}, {"type": "user"}, {"type": "assistant", "message": 7}])
def test_strange_lines_say_nothing(line: Line) -> None:
    assert steps(spoken(1000, "one"), line, result("four"), spoken(1100, "two")) != []


def test_thinking_counts_though_the_log_does_not_hold_all_of_it() -> None:
    thinking = {"type": "thinking", "thinking": ""}
    lines = [spoken(1000, "one", thinking), result("four"), spoken(1100, "two")]
    assert [one.thought for one in read(lines).steps] == [True]


def test_a_call_that_was_made_in_several_goes_is_left_out() -> None:
    several = spoken(1050, "two")
    several["message"]["usage"]["iterations"] = [{"type": "compaction"}, {"type": "message"}]
    lines = [spoken(1000, "one"), result("four"), several, result("four"), spoken(1200, "three")]
    assert steps(*lines) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", [0, 0, 0, 0, 0]),
        ("put it back", [0, 12, 0, 0, 0]),
        ("src/a.py x_1", [13, 0, 0, 0, 0]),
        ("a\n\n    b", [0, 4, 0, 2, 2]),
        ("naïve 日本", [1, 5, 3, 0, 0]),
    ],
)
def test_a_text_is_taken_apart_into_what_it_consists_of(text: str, found: list[int]) -> None:
    assert parts(text) == found
