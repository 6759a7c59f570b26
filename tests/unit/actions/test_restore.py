"""A brief within what a host counts, whichever way it counts."""

from __future__ import annotations

from holdfast.actions.restore import fitting
from holdfast.brief.render import Brief
from holdfast.brief.tokens import Estimator


def brief(characters: int) -> Brief:
    text = "ж" * characters
    nothing = Estimator(1.0, 1.0)
    return Brief(text, "0" * 8, shown=[], left_out=[], said=[], estimator=nothing)


def test_a_host_that_counts_characters_gets_all_of_them() -> None:
    assert len(fitting(brief, 9500, 0).text) == 9500


def test_a_host_that_counts_bytes_gets_no_more_than_it_takes() -> None:
    assert len(fitting(brief, 9500, 9900).text.encode()) <= 9900
    assert len(fitting(brief, 4000, 9900).text) == 4000


def test_it_comes_to_an_end_where_nothing_fits() -> None:
    assert fitting(lambda characters: brief(max(characters, 0)), 9500, 1).text == ""
