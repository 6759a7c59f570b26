"""What of a command's file is kept through a compaction."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.brief.command_text import END, MOST_UNMARKED, START, CommandText, of_file, shared
from holdfast.brief.front_matter import parse
from holdfast.brief.tokens import units

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

{START}
## Role
You are a mentor.

## Rules
- Run the tests first.
{END}

More prose.
"""


def kept(file: str, **state: object) -> str:
    return of_file(file, state).text


def test_what_stands_between_the_markers_is_kept_with_the_rules_of_the_front_matter() -> None:
    assert kept(BABYSIT) == (
        "- Ask with AskUserQuestion: never guess.\n- Delegate to experts\n\n"
        "## Role\nYou are a mentor.\n\n## Rules\n- Run the tests first."
    )


def test_of_the_state_only_the_named_fields_are_kept() -> None:
    text = kept(BABYSIT, phase="tests", current_story="US-7", mood="good")
    assert text.endswith("- current_story: US-7\n- phase: tests")
    assert "mood" not in text


def test_without_named_fields_the_whole_state_is_kept() -> None:
    assert kept("Never guess.", phase=2).endswith("- phase: 2")


def test_a_rule_that_the_marked_text_already_holds_is_said_once() -> None:
    file = BABYSIT.replace("- Run the tests first.", "- Delegate to experts")
    assert kept(file).count("Delegate to experts") == 1


@pytest.mark.parametrize(
    ("front", "weight"),
    [("critical", 4), ("high", 3), ("medium", 2), ("low", 1), ("whatever", 2), ("", 2)],
)
def test_priority_becomes_weight(front: str, weight: int) -> None:
    assert of_file(f"---\ncompact_context:\n  priority: {front}\n---\nx", {}).weight == weight


@pytest.mark.parametrize(
    "front",
    ["type: output-only", "output_only: true", "compact_context:\n  type: output-only"],
)
def test_a_command_that_only_prints_says_so(front: str) -> None:
    assert of_file(f"---\n{front}\n---\nNever.", {}).output_only


def test_without_markers_the_lines_that_read_like_rules_are_kept_under_their_headings() -> None:
    file = (
        "# Review\n\nThis command reviews a change.\n\n## Process\n1. Read the diff.\n"
        "2. Never approve your own change.\n```sh\nmust not appear\n```\n## Style\n"
        "Always quote the line.\n## Empty\nNothing to see.\n"
    )
    assert kept(file) == (
        "## Process\n2. Never approve your own change.\n\n## Style\n- Always quote the line."
    )


def test_lines_that_nobody_marked_get_little_room() -> None:
    file = "\n".join(f"- Never do thing number {n}." for n in range(500))
    text = kept(file)
    assert units(text) <= MOST_UNMARKED
    assert "left out" in text.splitlines()[-1]
    assert all(line.endswith(".") for line in text.splitlines()[:-2])


def test_a_marker_that_is_never_closed_reaches_to_the_end() -> None:
    assert kept(f"a\n{START}\nkeep\nthis") == "keep\nthis"


def test_several_marked_parts_are_all_kept() -> None:
    assert kept(f"{START}a{END} x {START}b{END}") == "a\n\nb"


# Room


def texts(*lengths: tuple[int, int]) -> list[CommandText]:
    """Texts of so many sections of 50 characters, with a weight."""
    return [
        CommandText(
            "\n\n".join(f"## {n}\n" + "x" * 44 for n in range(sections)),
            weight, output_only=False, is_marked=True,
        )
        for sections, weight in lengths
    ]  # fmt: skip


def test_what_fits_is_kept_whole() -> None:
    given = texts((3, 1), (4, 2))
    assert shared(given, 1000) == [text.text for text in given]


def test_a_text_over_its_share_loses_whole_sections_and_says_so() -> None:
    (text,) = shared(texts((40, 2)), 500)
    assert units(text) <= 500
    assert text.count("x" * 44) == text.count("## ") > 4
    assert "left out for room" in text


def test_what_one_does_not_need_another_gets() -> None:
    small, large = shared(texts((1, 2), (40, 2)), 1000)
    assert small == texts((1, 2))[0].text
    assert units(large) > 800


def test_a_heavier_command_gets_the_larger_share() -> None:
    light, heavy = shared(texts((40, 1), (40, 4)), 2000)
    assert units(heavy) > 3 * units(light)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.text(max_size=600), st.integers(1, 4)), max_size=5),
    st.integers(0, 1500),
)
def test_the_room_is_never_exceeded(given: list[tuple[str, int]], room: int) -> None:
    made = [CommandText(t, w, output_only=False, is_marked=True) for t, w in given]
    fitted = shared(made, room)
    assert sum(units(text) for text in fitted) <= max(room, 0)
    for text, whole in zip(fitted, given, strict=True):
        lines = {line.strip() for line in whole[0].splitlines()}
        told = [line.strip() for line in text.splitlines() if line.strip()]
        if text != whole[0]:
            assert all(line in lines for line in told[:-1]), "cut in the middle of a line"


# Front matter


def test_front_matter_of_the_usual_shapes_is_read() -> None:
    front, body = parse(
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
    assert parse(text) == ({}, text)


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.sampled_from("-: \nab[]'\"#|>\t"), max_size=60))
def test_whatever_stands_there_is_a_front_or_body(text: str) -> None:
    front, body = parse(f"---\n{text}\n---\n")
    assert all(isinstance(key, str) for key in front)
    assert body == "" or body in f"---\n{text}\n---\n"
    told = of_file(f"---\ncompact_context:\n{text}\n---\n{text}", {})
    assert isinstance(told.text, str)
