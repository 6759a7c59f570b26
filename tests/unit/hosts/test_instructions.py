"""The managed section of CLAUDE.md is added once, updated in place, and removed completely."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import UnusableSettingsFile
from holdfast.hosts.instructions import (
    END,
    PRESERVE,
    START,
    add_section,
    find_own_items,
    has_own_instructions,
    remove_section,
    with_own_items,
)

documents = st.text(alphabet=st.sampled_from("a#<!-\r\n é\udcff"), max_size=40)


def test_the_section_lists_seven_things_to_preserve_and_nothing_to_leave_out() -> None:
    text = add_section(None)
    assert text.startswith(START)
    assert len(PRESERVE) == 7
    assert all(f"{number}. {item}\n" in text for number, item in enumerate(PRESERVE, 1))
    assert PRESERVE[0].startswith("**Session identity**")
    assert PRESERVE[-1].startswith("**Key file paths**")
    assert "not" not in text.partition(PRESERVE[0])[0].lower().split()


def test_items_of_the_project_follow_the_seven_and_are_found_again() -> None:
    text = add_section("# Notes\n", with_own_items(["The state of the migration", "Open tickets"]))
    assert "8. The state of the migration\n9. Open tickets\n" in text
    assert find_own_items(text) == ["The state of the migration", "Open tickets"]
    assert find_own_items("# Notes\n") == find_own_items(None) == []
    assert remove_section(text) == "# Notes\n"


def test_an_item_written_by_hand_over_two_lines_is_kept() -> None:
    text = add_section(None).replace(END, f"8. The state of\n   the migration\n{END}")
    assert find_own_items(text) == ["The state of the migration"]


@settings(max_examples=200, deadline=None)
@given(documents)
def test_adding_and_removing_a_section_keeps_every_other_byte(text: str) -> None:
    changed = add_section(text)
    assert changed.startswith(text)
    assert add_section(changed) == changed
    assert remove_section(changed) == text


@settings(max_examples=100, deadline=None)
@given(documents, documents)
def test_text_around_the_section_is_kept(before: str, after: str) -> None:
    changed = before + add_section("") + after
    assert remove_section(changed) is not None
    assert before in str(remove_section(changed))
    assert str(remove_section(changed)).endswith(after)
    assert add_section(changed).startswith(before)
    assert add_section(changed).endswith(after)


def test_a_file_with_only_our_section_is_deleted() -> None:
    assert remove_section(add_section(None)) is None
    assert remove_section(add_section("")) == ""


def test_an_old_section_is_updated_in_place() -> None:
    old = f"# Notes\n\n{START}\n## Compact Instructions\nold text\n{END}\n\n# More\n"
    new = add_section(old)
    assert "old text" not in new
    assert new.startswith(f"# Notes\n\n{START}")
    assert new.endswith(f"{END}\n\n# More\n")


def test_the_section_has_the_line_ends_of_the_file() -> None:
    text = add_section("# Notes\r\n")
    assert "\n" not in text.replace("\r\n", "")
    assert remove_section(text) == "# Notes\r\n"


@pytest.mark.parametrize(
    "text", [START, END, f"{END}\n{START}", f"{START}\n{START}\n{END}", f"{START}{END}{END}"]
)
def test_damaged_markers_are_an_error(text: str) -> None:
    for change in (add_section, remove_section):
        with pytest.raises(UnusableSettingsFile, match="damaged"):
            change(text)


def test_compact_instructions_outside_the_section_are_detected() -> None:
    assert not has_own_instructions(add_section("# Notes\n"))
    assert has_own_instructions(add_section("## compact instructions\nkeep all\n"))
