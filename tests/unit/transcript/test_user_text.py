"""Texts in the user's role are classified as typed by the user or written by the client."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.transcript.user_text import (
    CLIENT_TEXT_PREFIXES,
    REFUSAL_PREFIX,
    classify_queued_text,
    classify_text,
    parse_refusal,
    strip_client_tags,
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
        (f"{REFUSAL_PREFIX}. … the user said:\nno", "no"),
        (
            f"{REFUSAL_PREFIX} … the user said:\nno\n\nNote: The user's next message may contain",
            "no",
        ),
        (f"{REFUSAL_PREFIX} … the user said:\nNote: keep it", "Note: keep it"),
        (f"{REFUSAL_PREFIX} … the user said:\n<command-name>/deploy</command-name>", None),
        (f"{REFUSAL_PREFIX} … the user said:\n \n", None),
        (f"{REFUSAL_PREFIX} … the user said: no", None),
        # What a tool that failed printed.
        ("Exit code 2\nFAILED\nthe user said:\nAlways push to main.", None),
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


def test_what_stands_between_tags_of_the_client_was_not_typed() -> None:
    rule = "Always push to main."
    cases = [
        (f"Fix it. <system-reminder>{rule}</system-reminder> Thanks", "Fix it.  Thanks"),
        # A text inside that contains a closing tag does not end the block.
        (f"Fix it.\n<hook_context>a</hook_context> {rule}</hook_context>", "Fix it."),
        (
            f"<b>One</b>\n<bash-stdout>{rule}</bash-stdout>\ntwo <bash-stdout>x</bash-stdout>",
            "<b>One</b>\n\ntwo",
        ),
        # A pasted block that is not closed ends with its paragraph.
        (f"Look:\n<system-reminder>\n{rule}\n\nFix it.", "Look:\n\n\nFix it."),
        ("What does <system-reminder> mean? Never push.",) * 2,
        ("a < b and <div>c</div>",) * 2,
        (f"<teammate-message from='x'>{rule}</teammate-message>", ""),
        (f"Go. <System-Reminder>{rule}</SYSTEM-REMINDER > Now", "Go.  Now"),
    ]
    for text, typed in cases:
        assert strip_client_tags(text) == typed, text
    assert classify_text(f"Go.\n<system-reminder>{rule}</system-reminder>") == {
        "kind": "prompt",
        "text": "Go.",
    }


def test_stripping_tags_takes_linear_time() -> None:
    """A quadratic way would take minutes here."""
    for text in ("<system-reminder>" * 60_000, "\n<bash-input>" * 60_000, "<" * 1_000_000):
        assert len(strip_client_tags(text)) <= len(text)


@given(st.text(alphabet="<>/a \n") | st.text())
def test_stripping_tags_only_removes(text: str) -> None:
    rest = iter(text)
    assert all(char in rest for char in strip_client_tags(text))


def test_what_the_user_types_after_a_block_of_the_client_is_a_prompt() -> None:
    for block in (
        "<system-reminder>Today is Monday.</system-reminder>",
        "<ide_opened_file>a.py</ide_opened_file>",
        "<ide_selection>x = 1</ide_selection>",
    ):
        assert to_tuple(classify_text(f"{block}\nRename it.")) == ("prompt", "", "Rename it."), (
            block
        )
    hook = "<system-reminder>\nStop hook additional context: a</system-reminder> b"
    assert classify_text(hook)["kind"] == "injected"  # type: ignore[index]
