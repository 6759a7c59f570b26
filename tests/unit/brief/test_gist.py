"""Of a long message the part is told that says what comes next, word for word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.brief.gist import gist

LONG = "The throttle is ten requests a second, and the tests make many of them at the same time. "


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Short enough.", "Short enough."),
        (
            LONG + "Let me raise the limit.",
            "…make many of them at the same time. Let me raise the limit.",
        ),
        (
            LONG + "Shall I raise it, or slow the tests down instead?",
            "…Shall I raise it, or slow the tests down instead?",
        ),
        (
            "Good. " + LONG + "I'll raise the limit for tests only, by a setting of its own.",
            "…I'll raise the limit for tests only, by a setting of its…",
        ),
        (
            "All green. Here's what changed:\n\n- The limit is a setting now, and tests raise it.",
            "…The limit is a setting now, and tests raise it.",
        ),
        (
            "Let me first look at the limit. " + LONG,
            "Let me first look at the limit. The throttle is ten…",
        ),
    ],
)  # fmt: skip
def test_what_comes_next_is_told_if_not_all_can_be(text: str, told: str) -> None:
    assert gist(text, 60) == told


@given(st.text(), st.integers(min_value=8, max_value=90))
def test_it_is_never_longer_and_always_a_part_of_what_was_said(text: str, most: int) -> None:
    told = gist(text, most)
    assert len(told) <= most
    assert told.strip("…").strip() in " ".join(text.split()) or "…" in text
