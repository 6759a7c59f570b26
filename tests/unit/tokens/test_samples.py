"""Extracting samples from transcripts."""

from __future__ import annotations

import pytest

from holdfast.tokens.samples import Sample, count_character_kinds, extract_samples
from tests.unit.tokens.logs import MODEL, spoken
from tests.unit.transcript_lines import Line, attachment, boundary, result, summary, text, user


def steps(*lines: Line) -> list[tuple[int, tuple[int, ...]]]:
    return [(one.tokens, one.characters) for one in extract_samples(lines).steps]


def test_a_step_is_the_difference_between_two_calls() -> None:
    use = {"type": "tool_use", "id": "t", "name": "Read", "input": {"a": "b"}}
    lines = [
        user("Go on."),
        spoken(1000, "one", text("I look."), use),
        result("four"),
        user("Well?"),
        spoken(1100, "two"),
    ]
    assert steps(*lines) == [(100, (7, len('Read {"a": "b"}'), 4, 5))]
    assert extract_samples(lines).steps[0] == Sample(
        model=MODEL,
        tokens=100,
        characters=(7, 15, 4, 5),
        result_characters=(0, 5, 0, 0, 0),
        blocks=4,
    )


def test_a_message_in_several_lines_is_one_call() -> None:
    first = spoken(1000, "one", text("I look."))
    again = {**spoken(1000, "one", text("And see."), output=90), "uuid": "other"}
    assert steps(first, again, result("four"), spoken(1100, "two")) == [(100, (15, 0, 4, 0))]


def test_a_repeated_line_counts_once() -> None:
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
def test_steps_with_unlogged_text_are_left_out(between: list[Line]) -> None:
    assert steps(spoken(1000, "one"), *between, spoken(1100, "two")) == []


def test_a_context_that_shrank_or_a_sub_agent_is_no_step() -> None:
    assert steps(spoken(1000, "one"), result("four"), spoken(900, "two")) == []
    assert steps(spoken(1000, "one"), spoken(5000, "two", isSidechain=True)) == []


def test_the_hosts_count_before_a_compaction_is_compared_with_ours() -> None:
    lines = [spoken(1000, "one"), result("a " * 150), boundary(preTokens=1090)]
    ((ours, theirs),) = extract_samples(lines).compactions
    assert theirs == 1090
    assert 1050 < ours < 1150


@pytest.mark.parametrize("line", [{}, {"type": "user"}, {"type": "assistant", "message": 7}])
def test_unknown_lines_are_ignored(line: Line) -> None:
    assert steps(spoken(1000, "one"), line, result("four"), spoken(1100, "two")) != []


def test_a_step_with_thinking_is_marked() -> None:
    thinking = {"type": "thinking", "thinking": ""}
    lines = [spoken(1000, "one", thinking), result("four"), spoken(1100, "two")]
    assert [one.has_thinking for one in extract_samples(lines).steps] == [True]


def test_a_call_with_several_iterations_is_left_out() -> None:
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
def test_the_characters_of_a_text_are_counted_by_kind(text: str, found: list[int]) -> None:
    assert count_character_kinds(text) == found
