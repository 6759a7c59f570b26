"""A brief stays within the host's limit, in characters or in bytes."""

from __future__ import annotations

from holdfast.brief.render import Brief
from holdfast.services.compaction.restore import build_within_bytes
from holdfast.tokens.estimate import Estimator


def brief(characters: int) -> Brief:
    text = "ж" * characters
    nothing = Estimator(1.0, 1.0)
    return Brief(text, "0" * 8, shown=[], left_out=[], in_summary=[], estimator=nothing)


def test_a_host_that_counts_characters_gets_all_of_them() -> None:
    assert len(build_within_bytes(brief, 9500, 0).text) == 9500


def test_a_host_that_counts_bytes_gets_at_most_that_many() -> None:
    assert len(build_within_bytes(brief, 9500, 9900).text.encode()) <= 9900
    assert len(build_within_bytes(brief, 4000, 9900).text) == 4000


def test_an_impossible_limit_gives_an_empty_brief() -> None:
    assert build_within_bytes(lambda characters: brief(max(characters, 0)), 9500, 1).text == ""
