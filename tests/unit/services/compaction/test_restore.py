"""A brief stays within the limit of the host, in characters or in bytes."""

from __future__ import annotations

from holdfast.brief.render import Brief
from holdfast.services.compaction.restore import build_within_bytes
from holdfast.tokens.estimate import Estimator


def build_brief(characters: int) -> Brief:
    """A brief of this many characters, each of two bytes."""
    text = "ж" * characters
    estimator = Estimator(1.0, 1.0)
    return Brief(text, "0" * 8, shown=[], left_out=[], in_summary=[], estimator=estimator)


def test_a_brief_without_a_byte_limit_has_all_characters() -> None:
    assert len(build_within_bytes(build_brief, 9500, 0).text) == 9500


def test_a_brief_does_not_exceed_the_byte_limit() -> None:
    assert len(build_within_bytes(build_brief, 9500, 9900).text.encode()) <= 9900
    assert len(build_within_bytes(build_brief, 4000, 9900).text) == 4000


def test_a_limit_that_is_too_small_gives_an_empty_brief() -> None:
    brief = build_within_bytes(lambda characters: build_brief(max(characters, 0)), 9500, 1)
    assert brief.text == ""
