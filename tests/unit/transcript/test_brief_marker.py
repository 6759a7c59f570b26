"""transcript/ and state/ do not import each other, so the marker of a brief is defined twice."""

from __future__ import annotations

from holdfast.state.rules import compactions
from holdfast.transcript import user_text


def test_both_definitions_of_the_marker_are_equal() -> None:
    assert user_text.BRIEF_MARKER == compactions.BRIEF_MARKER
