"""Texts by what they were made of, within a size."""

from __future__ import annotations

from functools import partial

from holdfast.actions.remembered import EACH, Remembered


def kept(remembered: Remembered, *names: str) -> list[str]:
    """Those of these that need not be made again; what is made is not kept."""
    made: list[str] = []

    class Asked(Exception):
        pass

    def make() -> str:
        raise Asked

    for name in names:
        try:
            remembered.text(name, make)
        except Asked:
            continue
        made.append(name)
    return made


def test_what_is_made_of_the_same_is_made_once() -> None:
    remembered, made = Remembered(), []

    def make() -> str:
        made.append(1)
        return "text"

    assert [remembered.text(("a", 1, ["b"]), make) for _ in range(3)] == ["text"] * 3
    assert remembered.text(("a", 1, ["c"]), make) == "text"
    assert len(made) == 2


def test_an_empty_text_is_remembered_too() -> None:
    remembered = Remembered()
    remembered.text("a", lambda: "")
    assert kept(remembered, "a") == ["a"]


def test_values_that_only_look_alike_when_joined_are_not_the_same() -> None:
    remembered = Remembered()
    assert remembered.text(("a", "b"), lambda: "1") == "1"
    assert remembered.text(("a', 'b",), lambda: "2") == "2"
    assert remembered.text((1,), lambda: "3") == "3"
    assert remembered.text(("1",), lambda: "4") == "4"


def test_the_one_that_nobody_asked_for_the_longest_goes_first() -> None:
    remembered = Remembered(3 * (EACH + 10))
    for name in "abc":
        remembered.text(name, lambda: "x" * 10)
    remembered.text("a", lambda: "never made")
    remembered.text("d", lambda: "x" * 10)
    assert kept(remembered, *"abcd") == ["a", "c", "d"]


def test_a_text_comes_back_as_it_was_and_takes_what_it_is_written_in() -> None:
    text, remembered = "x" * 999 + "“" + "\ud83d", Remembered()
    remembered.text("a", lambda: text)
    assert remembered.text("a", lambda: "never made") == text
    # Kept as it is in memory, one mark that is not ASCII would double it.
    assert remembered.size == EACH + 999 + 3 + 3


def test_it_never_holds_more_than_it_may() -> None:
    most = 10 * EACH
    remembered = Remembered(most)
    for number in range(200):
        remembered.text(number, partial(str.__mul__, "é", number % 300))
        assert remembered.size <= most
    remembered.text("huge", lambda: "x" * most)
    assert (remembered.size, kept(remembered, "huge")) == (0, [])
