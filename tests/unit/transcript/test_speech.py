"""Whose words stand in a text that the log has in the user's name."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.transcript.speech import NOT_A_PERSON, refusal, said, typed


def heard(event: Any) -> tuple[str, ...] | None:
    return None if event is None else (event["kind"], event.get("name", ""), event["text"])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("  go on \n", ("prompt", "", "go on")),
        ("/compact", ("command", "/compact", "")),
        ("/compact keep\nthe plan", ("command", "/compact", "keep\nthe plan")),
        ("/compacted is no command", ("prompt", "", "/compacted is no command")),
        ("/etc/hosts is wrong", ("prompt", "", "/etc/hosts is wrong")),
        ("<command-message>x</command-message>", None),
        (
            "<command-message>fix</command-message>\n<command-name>/fix</command-name>",
            ("command", "/fix", ""),
        ),
        ("<b>bold</b> is what I want", ("prompt", "", "<b>bold</b> is what I want")),
        ("", None),
        (" \n", None),
    ],
)
def test_a_text_is_a_prompt_a_command_or_nobodys(text: str, told: Any) -> None:
    assert heard(said(text)) == told


@pytest.mark.parametrize("start", NOT_A_PERSON)
def test_what_the_client_begins_is_nobodys_wherever_it_stands(start: str) -> None:
    assert said(f"{start} and more") is None
    assert heard(said(f"I saw {start} there")) == ("prompt", "", f"I saw {start} there")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("/review src/a.py", ("command", "/review", "src/a.py")),
        ("/review", ("command", "/review", "")),
        ("/gsd:plan  12 ", ("command", "/gsd:plan", "12")),
        ("/src/a.py is wrong", ("prompt", "", "/src/a.py is wrong")),
        ("/", ("prompt", "", "/")),
        ("go on", ("prompt", "", "go on")),
        ("", None),
        ("<bash-stdout>x</bash-stdout>", None),
    ],
)
def test_in_the_queue_a_command_stands_as_it_was_typed(text: str, told: Any) -> None:
    assert heard(typed(text)) == told


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("… the user said:\nno", "no"),
        ("… the user said:\nno\n\nNote: The user's next message may contain a correction", "no"),
        ("… the user said:\nNote: keep it", "Note: keep it"),
        ("… the user said:\n \n", None),
        ("… the user said: no", None),
        ("", None),
    ],
)
def test_a_refusal_holds_only_what_the_person_said(text: str, words: str | None) -> None:
    told = refusal(text)
    assert (told["text"] if told else None) == words


@given(st.text() | st.sampled_from(NOT_A_PERSON).flatmap(lambda it: st.text().map(it.__add__)))
def test_no_text_is_too_odd_to_be_heard(text: str) -> None:
    for event in (said(text), said(text, is_meta=True), typed(text), refusal(text)):
        assert event is None or event["kind"] in (
            "prompt", "command", "summary", "injected", "agent_done",
        )  # fmt: skip
    assert heard(said(text, is_meta=True)) is None or text.strip().startswith(("This", "<s"))
