"""The managed section of CLAUDE.md: written once, brought up to date, taken out without a trace."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import SettingsFileUnusable
from holdfast.hosts.instructions import DO_NOT, END, PRESERVE, START, add, has_its_own, remove

documents = st.text(alphabet=st.sampled_from("a#<!-\r\n é\udcff"), max_size=40)


def test_it_names_seven_things_to_preserve_and_five_not_to_waste_room_on() -> None:
    assert (len(PRESERVE), len(DO_NOT)) == (7, 5)
    text = add(None)
    assert text.startswith(START)
    assert all(f"{n}. {one}\n" in text for n, one in enumerate(PRESERVE, 1))
    assert all(f"- {one}\n" in text for one in DO_NOT)


@settings(max_examples=200, deadline=None)
@given(documents)
def test_the_rest_stays_byte_for_byte(text: str) -> None:
    with_it = add(text)
    assert with_it.startswith(text)
    assert add(with_it) == with_it
    assert remove(with_it) == text


@settings(max_examples=100, deadline=None)
@given(documents, documents)
def test_what_is_written_around_it_later_stays_too(before: str, after: str) -> None:
    changed = before + add("") + after
    assert remove(changed) is not None
    assert before in str(remove(changed))
    assert str(remove(changed)).endswith(after)
    assert add(changed).startswith(before)
    assert add(changed).endswith(after)


def test_a_file_that_held_nothing_else_was_ours() -> None:
    assert remove(add(None)) is None
    assert remove(add("")) == ""


def test_an_older_section_is_brought_up_to_date_in_its_place() -> None:
    old = f"# Mine\n\n{START}\n## Compact Instructions\nold words\n{END}\n\n# More\n"
    new = add(old)
    assert "old words" not in new
    assert new.startswith(f"# Mine\n\n{START}")
    assert new.endswith(f"{END}\n\n# More\n")


def test_line_ends_are_those_of_the_file() -> None:
    text = add("# Mine\r\n")
    assert "\n" not in text.replace("\r\n", "")
    assert remove(text) == "# Mine\r\n"


@pytest.mark.parametrize(
    "text", [START, END, f"{END}\n{START}", f"{START}\n{START}\n{END}", f"{START}{END}{END}"]
)
def test_damaged_markers_are_left_to_a_person(text: str) -> None:
    for change in (add, remove):
        with pytest.raises(SettingsFileUnusable, match="damaged"):
            change(text)


def test_a_section_of_the_users_own_is_noticed() -> None:
    assert not has_its_own(add("# Mine\n"))
    assert has_its_own(add("## compact instructions\nkeep all\n"))
