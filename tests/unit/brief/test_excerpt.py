"""The excerpt of a long message says what comes next, word for word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.brief.excerpt import make_excerpt

LONG = "The throttle is ten requests a second, and the tests make many of them at the same time. "


@pytest.mark.parametrize(
    ("text", "excerpt"),
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
def test_the_sentence_about_the_next_step_is_kept(text: str, excerpt: str) -> None:
    assert make_excerpt(text, 60) == excerpt


@given(st.text(), st.integers(min_value=8, max_value=90))
def test_an_excerpt_is_within_its_limit_and_part_of_the_text(text: str, most: int) -> None:
    excerpt = make_excerpt(text, most)
    assert len(excerpt) <= most
    assert excerpt.strip("…").strip() in " ".join(text.split()) or "…" in text
