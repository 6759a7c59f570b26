"""Flags on disk show hooks whether there may be unread messages."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from holdfast.ledger import unread_flags

# The file system sets the times of the flags, so the tests use the real time.
NOW = time.time()
LATER = NOW + 3600


@pytest.fixture
def ledger(tmp_path: Path) -> str:
    return str(tmp_path / "ledger.db")


def read_flags(ledger: str, *names: str, at: float = NOW) -> str:
    return unread_flags.read_flags(ledger, names, at)


def test_without_a_message_no_folder_is_created(ledger: str) -> None:
    assert read_flags(ledger, "s1", unread_flags.ALL_AGENTS) == ""
    assert not os.path.exists(unread_flags.get_flags_folder(ledger))


def test_only_the_recipient_of_a_message_has_a_flag(ledger: str) -> None:
    unread_flags.raise_flag(ledger, "s1", LATER)
    assert read_flags(ledger, "s1")
    assert not read_flags(ledger, "s2", unread_flags.ALL_AGENTS)
    unread_flags.raise_flag(ledger, unread_flags.ALL_AGENTS, LATER)
    assert read_flags(ledger, "s2", unread_flags.ALL_AGENTS)


def test_a_flag_expires_with_its_last_message(ledger: str) -> None:
    unread_flags.raise_flag(ledger, "s1", LATER)
    unread_flags.raise_flag(ledger, "s1", NOW + 10)
    assert read_flags(ledger, "s1", at=NOW + 20), "the first message has not expired"
    assert not read_flags(ledger, "s1", at=LATER + 1)


def test_each_message_changes_the_flag_whatever_its_expiry(ledger: str) -> None:
    flags = set()
    for expires in (LATER, LATER, NOW + 10):
        unread_flags.raise_flag(ledger, "s1", expires)
        flags.add(read_flags(ledger, "s1"))
    assert len(flags) == 3


def test_seen_flags_count_as_changed_only_after_a_new_message(ledger: str) -> None:
    unread_flags.raise_flag(ledger, "s1", LATER)
    # Long enough after the flag was raised, even if the module was imported long ago.
    later = time.time() + 600
    flags = read_flags(ledger, "s1", at=later)
    assert unread_flags.have_flags_changed(ledger, "s1", flags)
    unread_flags.save_seen_flags(ledger, "s1", flags)
    assert not unread_flags.have_flags_changed(ledger, "s1", flags)
    assert unread_flags.have_flags_changed(ledger, "s2", flags)
    unread_flags.raise_flag(ledger, "s1", LATER)
    assert unread_flags.have_flags_changed(ledger, "s1", read_flags(ledger, "s1", at=later))


def test_a_flag_that_was_just_raised_counts_as_changed_again(ledger: str) -> None:
    """The message may have been stored after the flag was read."""
    unread_flags.raise_flag(ledger, "s1", LATER)
    flags = read_flags(ledger, "s1")
    assert "?" in flags
    unread_flags.save_seen_flags(ledger, "s1", flags)
    assert unread_flags.have_flags_changed(ledger, "s1", flags)


def test_only_expired_flags_are_deleted(ledger: str) -> None:
    unread_flags.raise_flag(ledger, "s1", LATER)
    unread_flags.save_seen_flags(ledger, "s1", "1 2")
    unread_flags.delete_expired_flags(ledger, NOW - 60)
    assert len(os.listdir(unread_flags.get_flags_folder(ledger))) == 2
    unread_flags.delete_expired_flags(ledger, 4e9)
    assert os.listdir(unread_flags.get_flags_folder(ledger)) == []
    unread_flags.delete_expired_flags(str(Path(ledger).parent / "nowhere" / "ledger.db"), 4e9)


def test_flags_are_readable_only_by_their_owner(ledger: str) -> None:
    unread_flags.raise_flag(ledger, "s1", LATER)
    unread_flags.save_seen_flags(ledger, "s1", "1")
    folder = Path(unread_flags.get_flags_folder(ledger))
    assert [oct(path.stat().st_mode & 0o777) for path in sorted(folder.iterdir())] == ["0o600"] * 2
    assert oct(folder.stat().st_mode & 0o777) == "0o700"
