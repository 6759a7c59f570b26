"""Detecting that the host has not yet written the boundary of a compaction to its log."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from holdfast.hosts import claude_code, droid
from holdfast.services.compaction.status import UNWRITTEN_SECONDS, is_boundary_unwritten
from holdfast.state.fold import new_state
from holdfast.store.sqlite import SQLiteStore

NOW = 1_790_000_000.0


@pytest.fixture
def store(tmp_path: Path) -> SQLiteStore:
    store = SQLiteStore(str(tmp_path / "holdfast.db"))
    store.save_session(
        session="s", host="claude-code", project="/p", transcript="/t", cursor=None,
        state=new_state(), revision=0, now=NOW,
    )  # fmt: skip
    store.open_compaction("s", 1, trigger="manual", snapshot=None, now=NOW)
    return store


def record_sent_brief(store: SQLiteStore) -> None:
    store.note_brief(
        "s", 1, brief_id="00000000", brief="x", line=1, delivered_by="SessionStart", now=NOW
    )


def session(*summary_lines: int) -> Any:
    compactions = [{"summary_line": line} for line in summary_lines]
    state = {**new_state(), "compactions": compactions}
    return SimpleNamespace(id="s", state=state, is_complete=True)


def test_a_boundary_is_unwritten_right_after_its_brief_was_sent(
    store: SQLiteStore,
) -> None:
    record_sent_brief(store)
    assert is_boundary_unwritten(store, session(), claude_code, NOW + 1)
    assert is_boundary_unwritten(store, session(0), claude_code, NOW + 1)


def test_a_boundary_is_not_unwritten_if_it_is_logged_old_or_without_a_brief(
    store: SQLiteStore,
) -> None:
    assert not is_boundary_unwritten(store, session(), claude_code, NOW + 1), (
        "the compaction was cancelled"
    )
    record_sent_brief(store)
    assert not is_boundary_unwritten(store, session(12), claude_code, NOW + 1)
    assert not is_boundary_unwritten(store, session(), claude_code, NOW + UNWRITTEN_SECONDS)
    assert not is_boundary_unwritten(store, session(), droid, NOW + 1), (
        "the log of this host has no boundaries"
    )
