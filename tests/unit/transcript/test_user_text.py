"""Texts in the user's role are classified as typed by the user or written by the client."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.transcript.user_text import (
    CLIENT_TEXT_PREFIXES,
    classify_queued_text,
    classify_text,
    parse_refusal,
)


def to_tuple(event: Any) -> tuple[str, ...] | None:
    return None if event is None else (event["kind"], event.get("name", ""), event["text"])


def test_a_text_is_a_prompt_a_command_or_ignored() -> None:
    cases = [
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
    ]
    for text, expected in cases:
        assert to_tuple(classify_text(text)) == expected, text


def test_client_text_is_recognised_only_at_the_start() -> None:
    for prefix in CLIENT_TEXT_PREFIXES:
        assert classify_text(f"{prefix} and more") is None, prefix
        assert to_tuple(classify_text(f"I saw {prefix} there")) == (
            "prompt",
            "",
            f"I saw {prefix} there",
        ), prefix


def test_a_queued_command_has_no_tags() -> None:
    cases = [
        ("/review src/a.py", ("command", "/review", "src/a.py")),
        ("/review", ("command", "/review", "")),
        ("/gsd:plan  12 ", ("command", "/gsd:plan", "12")),
        ("/src/a.py is wrong", ("prompt", "", "/src/a.py is wrong")),
        ("/", ("prompt", "", "/")),
        ("go on", ("prompt", "", "go on")),
        ("", None),
        ("<bash-stdout>x</bash-stdout>", None),
    ]
    for text, expected in cases:
        assert to_tuple(classify_queued_text(text)) == expected, text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("… the user said:\nno", "no"),
        ("… the user said:\nno\n\nNote: The user's next message may contain a correction", "no"),
        ("… the user said:\nNote: keep it", "Note: keep it"),
        ("… the user said:\n \n", None),
        ("… the user said: no", None),
        ("", None),
    ],
)
def test_a_refusal_contains_only_the_text_of_the_user(text: str, expected: str | None) -> None:
    refusal = parse_refusal(text)
    assert (refusal["text"] if refusal else None) == expected


@given(
    st.text()
    | st.sampled_from(CLIENT_TEXT_PREFIXES).flatmap(lambda prefix: st.text().map(prefix.__add__))
)
def test_any_text_is_classified_without_an_error(text: str) -> None:
    for event in (
        classify_text(text),
        classify_text(text, is_meta=True),
        classify_queued_text(text),
        parse_refusal(text),
    ):
        assert event is None or event["kind"] in (
            "prompt", "command", "summary", "injected", "agent_done",
        )  # fmt: skip
    assert to_tuple(classify_text(text, is_meta=True)) is None or text.strip().startswith(
        ("This", "<s")
    )
