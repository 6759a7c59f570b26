"""Flags tell hooks whether to look: never too seldom, and not again for what was seen."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from holdfast.ledger import unread_flags

# The file system has a clock of its own, which no test can set.
NOW = time.time()
LATER = NOW + 3600


@pytest.fixture
def ledger(tmp_path: Path) -> str:
    return str(tmp_path / "ledger.db")


def word(ledger: str, *names: str, at: float = NOW) -> str:
    return unread_flags.read_flags(ledger, names, at)


def test_without_a_message_there_is_not_even_a_folder(ledger: str) -> None:
    assert word(ledger, "s1", unread_flags.ALL_AGENTS) == ""
    assert not os.path.exists(unread_flags.flags_folder(ledger))


def test_only_the_name_that_was_written_to_has_a_flag(ledger: str) -> None:
    unread_flags.raise_flag(ledger, "s1", LATER)
    assert word(ledger, "s1")
    assert not word(ledger, "s2", unread_flags.ALL_AGENTS)
    unread_flags.raise_flag(ledger, unread_flags.ALL_AGENTS, LATER)
    assert word(ledger, "s2", unread_flags.ALL_AGENTS)


def test_a_flag_falls_when_its_last_message_expires(ledger: str) -> None:
    unread_flags.raise_flag(ledger, "s1", LATER)
    unread_flags.raise_flag(ledger, "s1", NOW + 10)
    assert word(ledger, "s1", at=NOW + 20), "the first message still waits"
    assert not word(ledger, "s1", at=LATER + 1)


def test_each_message_changes_the_word_whenever_it_expires(ledger: str) -> None:
    words = set()
    for expires in (LATER, LATER, NOW + 10):
        unread_flags.raise_flag(ledger, "s1", expires)
        words.add(word(ledger, "s1"))
    assert len(words) == 3


def test_who_has_looked_looks_again_only_at_something_new(ledger: str) -> None:
    unread_flags.raise_flag(ledger, "s1", LATER)
    # Long after the flag was raised, however long this module has been there.
    soon = time.time() + 600
    stands = word(ledger, "s1", at=soon)
    assert unread_flags.has_changed(ledger, "s1", stands)
    unread_flags.save_seen(ledger, "s1", stands)
    assert not unread_flags.has_changed(ledger, "s1", stands)
    assert unread_flags.has_changed(ledger, "s2", stands)
    unread_flags.raise_flag(ledger, "s1", LATER)
    assert unread_flags.has_changed(ledger, "s1", word(ledger, "s1", at=soon))


def test_a_flag_that_was_just_raised_is_looked_at_again(ledger: str) -> None:
    """Its message may not have been there yet."""
    unread_flags.raise_flag(ledger, "s1", LATER)
    stands = word(ledger, "s1")
    assert "?" in stands
    unread_flags.save_seen(ledger, "s1", stands)
    assert unread_flags.has_changed(ledger, "s1", stands)


def test_old_flags_are_taken_away_and_others_stay(ledger: str) -> None:
    unread_flags.raise_flag(ledger, "s1", LATER)
    unread_flags.save_seen(ledger, "s1", "1 2")
    unread_flags.delete_old(ledger, NOW - 60)
    assert len(os.listdir(unread_flags.flags_folder(ledger))) == 2
    unread_flags.delete_old(ledger, 4e9)
    assert os.listdir(unread_flags.flags_folder(ledger)) == []
    unread_flags.delete_old(str(Path(ledger).parent / "nowhere" / "ledger.db"), 4e9)


def test_files_are_for_their_owner_alone(ledger: str) -> None:
    unread_flags.raise_flag(ledger, "s1", LATER)
    unread_flags.save_seen(ledger, "s1", "1")
    here = Path(unread_flags.flags_folder(ledger))
    assert [oct(path.stat().st_mode & 0o777) for path in sorted(here.iterdir())] == ["0o600"] * 2
    assert oct(here.stat().st_mode & 0o777) == "0o700"
