"""Extraction of calibration samples from transcripts."""

from __future__ import annotations

import pytest

from holdfast.tokens.samples import Sample, count_character_kinds, extract_samples
from tests.unit.tokens.logs import MODEL, model_message
from tests.unit.transcript_lines import Line, attachment, boundary, result, summary, text, user


def extract_steps(*lines: Line) -> list[tuple[int, tuple[int, ...]]]:
    return [(sample.tokens, sample.characters) for sample in extract_samples(lines).steps]


def test_a_step_is_the_difference_between_two_calls() -> None:
    use = {"type": "tool_use", "id": "t", "name": "Read", "input": {"a": "b"}}
    lines = [
        user("Go on."),
        model_message(1000, "one", text("I look."), use),
        result("four"),
        user("Well?"),
        model_message(1100, "two"),
    ]
    assert extract_steps(*lines) == [(100, (7, len('Read {"a": "b"}'), 4, 5))]
    assert extract_samples(lines).steps[0] == Sample(
        model=MODEL,
        tokens=100,
        characters=(7, 15, 4, 5),
        result_characters=(0, 5, 0, 0, 0),
        blocks=4,
    )


def test_a_message_in_several_lines_is_one_call() -> None:
    first = model_message(1000, "one", text("I look."))
    continued = {**model_message(1000, "one", text("And see."), output_tokens=90), "uuid": "other"}
    assert extract_steps(first, continued, result("four"), model_message(1100, "two")) == [
        (100, (15, 0, 4, 0))
    ]


def test_a_repeated_line_counts_once() -> None:
    repeated = result("four", uuid="same")
    assert extract_steps(
        model_message(1000, "one"), repeated, repeated, model_message(1100, "two")
    ) == [(100, (0, 0, 4, 0))]


@pytest.mark.parametrize(
    "between",
    [
        [boundary(trigger="auto")],
        [summary()],
        [model_message(900, "other", model="claude-haiku-4-5")],
        [attachment("edited_text_file", content="x")],
        [result([{"type": "image", "source": {}}])],
        [user([{"type": "document"}])],
    ],
)
def test_steps_with_tokens_of_unlogged_text_are_left_out(between: list[Line]) -> None:
    assert extract_steps(model_message(1000, "one"), *between, model_message(1100, "two")) == []


def test_a_smaller_context_or_a_sub_agent_message_is_no_step() -> None:
    assert (
        extract_steps(model_message(1000, "one"), result("four"), model_message(900, "two")) == []
    )
    assert (
        extract_steps(model_message(1000, "one"), model_message(5000, "two", isSidechain=True))
        == []
    )


def test_a_compaction_has_the_estimated_and_the_reported_tokens() -> None:
    lines = [model_message(1000, "one"), result("a " * 150), boundary(preTokens=1090)]
    ((estimated, reported),) = extract_samples(lines).compactions
    assert reported == 1090
    assert 1050 < estimated < 1150


@pytest.mark.parametrize("line", [{}, {"type": "user"}, {"type": "assistant", "message": 7}])
def test_unknown_lines_are_ignored(line: Line) -> None:
    assert (
        extract_steps(model_message(1000, "one"), line, result("four"), model_message(1100, "two"))
        != []
    )


def test_a_step_with_thinking_is_marked() -> None:
    thinking = {"type": "thinking", "thinking": ""}
    lines = [model_message(1000, "one", thinking), result("four"), model_message(1100, "two")]
    assert [sample.has_thinking for sample in extract_samples(lines).steps] == [True]


def test_a_call_with_several_iterations_is_left_out() -> None:
    several = model_message(1050, "two")
    several["message"]["usage"]["iterations"] = [{"type": "compaction"}, {"type": "message"}]
    lines = [
        model_message(1000, "one"),
        result("four"),
        several,
        result("four"),
        model_message(1200, "three"),
    ]
    assert extract_steps(*lines) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [0, 0, 0, 0, 0]),
        ("put it back", [0, 12, 0, 0, 0]),
        ("src/a.py x_1", [13, 0, 0, 0, 0]),
        ("a\n\n    b", [0, 4, 0, 2, 2]),
        ("naïve 日本", [1, 5, 3, 0, 0]),
    ],
)
def test_the_characters_of_a_text_are_counted_by_kind(text: str, expected: list[int]) -> None:
    assert count_character_kinds(text) == expected
