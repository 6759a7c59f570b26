"""Extracting the rules of a slash command's file."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.brief.command_rules import (
    END_MARKER,
    MAX_UNMARKED_UNITS,
    START_MARKER,
    CommandRules,
    extract_rules,
    fit_rules,
)
from holdfast.brief.front_matter import parse_front_matter
from holdfast.tokens.estimate import utf16_units

BABYSIT = f"""---
description: Mentor the work
compact_context:
  priority: critical
  preserve_rules:
    - "Ask with AskUserQuestion: never guess."
    - Delegate to experts
  state_fields:
    - current_story
    - phase
---
# Babysit
Long prose about the history of babysitting.

{START_MARKER}
## Role
You are a mentor.

## Rules
- Run the tests first.
{END_MARKER}

More prose.
"""


def kept(file: str, **state: object) -> str:
    return extract_rules(file, state).text


def test_marked_text_is_kept_with_the_rules_of_the_front_matter() -> None:
    assert kept(BABYSIT) == (
        "- Ask with AskUserQuestion: never guess.\n- Delegate to experts\n\n"
        "## Role\nYou are a mentor.\n\n## Rules\n- Run the tests first."
    )


def test_only_the_named_fields_of_the_state_are_kept() -> None:
    text = kept(BABYSIT, phase="tests", current_story="US-7", mood="good")
    assert text.endswith("- current_story: US-7\n- phase: tests")
    assert "mood" not in text


def test_without_named_fields_the_whole_state_is_kept() -> None:
    assert kept("Never guess.", phase=2).endswith("- phase: 2")


def test_a_rule_that_the_marked_text_already_has_is_not_repeated() -> None:
    file = BABYSIT.replace("- Run the tests first.", "- Delegate to experts")
    assert kept(file).count("Delegate to experts") == 1


@pytest.mark.parametrize(
    ("front", "weight"),
    [("critical", 4), ("high", 3), ("medium", 2), ("low", 1), ("whatever", 2), ("", 2)],
)
def test_priority_becomes_weight(front: str, weight: int) -> None:
    assert extract_rules(f"---\ncompact_context:\n  priority: {front}\n---\nx", {}).weight == weight


@pytest.mark.parametrize(
    "front",
    ["type: output-only", "output_only: true", "compact_context:\n  type: output-only"],
)
def test_a_command_that_only_prints_says_so(front: str) -> None:
    assert extract_rules(f"---\n{front}\n---\nNever.", {}).output_only


def test_without_markers_the_lines_that_read_like_rules_are_kept_under_their_headings() -> None:
    file = (
        "# Review\n\nThis command reviews a change.\n\n## Process\n1. Read the diff.\n"
        "2. Never approve your own change.\n```sh\nmust not appear\n```\n## Style\n"
        "Always quote the line.\n## Empty\nNothing to see.\n"
    )
    assert kept(file) == (
        "## Process\n2. Never approve your own change.\n\n## Style\n- Always quote the line."
    )


def test_lines_without_markers_are_limited() -> None:
    file = "\n".join(f"- Never do thing number {n}." for n in range(500))
    text = kept(file)
    assert utf16_units(text) <= MAX_UNMARKED_UNITS
    assert "left out" in text.splitlines()[-1]
    assert all(line.endswith(".") for line in text.splitlines()[:-2])


def test_a_part_without_an_end_marker_reaches_to_the_end() -> None:
    assert kept(f"a\n{START_MARKER}\nkeep\nthis") == "keep\nthis"


def test_several_marked_parts_are_all_kept() -> None:
    assert kept(f"{START_MARKER}a{END_MARKER} x {START_MARKER}b{END_MARKER}") == "a\n\nb"


# Room


def texts(*lengths: tuple[int, int]) -> list[CommandRules]:
    """Texts of so many sections of 50 characters, with a weight."""
    return [
        CommandRules(
            "\n\n".join(f"## {n}\n" + "x" * 44 for n in range(sections)),
            weight, output_only=False, is_marked=True,
        )
        for sections, weight in lengths
    ]  # fmt: skip


def test_what_fits_is_kept_whole() -> None:
    given = texts((3, 1), (4, 2))
    assert fit_rules(given, 1000) == [text.text for text in given]


def test_a_text_over_its_share_loses_whole_sections_and_says_so() -> None:
    (text,) = fit_rules(texts((40, 2)), 500)
    assert utf16_units(text) <= 500
    assert text.count("x" * 44) == text.count("## ") > 4
    assert "left out for room" in text


def test_units_that_one_command_does_not_need_go_to_another() -> None:
    small, large = fit_rules(texts((1, 2), (40, 2)), 1000)
    assert small == texts((1, 2))[0].text
    assert utf16_units(large) > 700


def test_a_heavier_command_gets_the_larger_share() -> None:
    light, heavy = fit_rules(texts((40, 1), (40, 4)), 2000)
    assert utf16_units(heavy) > 3 * utf16_units(light)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.text(max_size=600), st.integers(1, 4)), max_size=5),
    st.integers(0, 1500),
)
def test_the_limit_is_never_exceeded(given: list[tuple[str, int]], room: int) -> None:
    made = [CommandRules(t, w, output_only=False, is_marked=True) for t, w in given]
    fitted = fit_rules(made, room)
    assert sum(utf16_units(text) for text in fitted) <= max(room, 0)
    for text, whole in zip(fitted, given, strict=True):
        lines = {line.strip() for line in whole[0].splitlines()}
        shown = [line.strip() for line in text.splitlines() if line.strip()]
        if text != whole[0]:
            assert all(line in lines for line in shown[:-1]), "cut in the middle of a line"


# Front matter


def test_front_matter_of_the_usual_shapes_is_read() -> None:
    front, body = parse_front_matter(
        '---\nname: x\ntools: [Read, "Edit"]\nargs:\n- a\n- "b: c"\nabout: >\n  two\n  lines\n'
        "nested:\n  one: 1 # why\n  two:\n    - deep\n---\nbody\n"
    )
    assert front == {
        "name": "x",
        "tools": ["Read", "Edit"],
        "args": ["a", "b: c"],
        "about": "two lines",
        "nested": {"one": "1", "two": ["deep"]},
    }
    assert body == "body"


@pytest.mark.parametrize("text", ["", "no front", "---\nnever: closed\n", "# T\n---\na: b\n---\n"])
def test_a_file_without_front_matter_is_all_body(text: str) -> None:
    assert parse_front_matter(text) == ({}, text)


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.sampled_from("-: \nab[]'\"#|>\t"), max_size=60))
def test_any_text_is_parsed_without_an_error(text: str) -> None:
    front, body = parse_front_matter(f"---\n{text}\n---\n")
    assert all(isinstance(key, str) for key in front)
    assert body == "" or body in f"---\n{text}\n---\n"
    rules = extract_rules(f"---\ncompact_context:\n{text}\n---\n{text}", {})
    assert isinstance(rules.text, str)
