"""Whether to look at the log once more before a prompt goes on without a brief."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from holdfast.actions.compaction import FRESH, is_unwritten
from holdfast.hosts import claude_code, droid
from holdfast.state.fold import new_state
from holdfast.store.sqlite import SQLiteStore

NOW = 1_790_000_000.0


@pytest.fixture
def store(tmp_path: Path) -> SQLiteStore:
    made = SQLiteStore(str(tmp_path / "holdfast.db"))
    made.save_session(
        session="s", host="claude-code", project="/p", transcript="/t", cursor=None,
        state=new_state(), revision=0, now=NOW,
    )  # fmt: skip
    made.open_compaction("s", 1, trigger="manual", snapshot=None, now=NOW)
    return made


def sent(store: SQLiteStore) -> None:
    store.note_brief(
        "s", 1, brief_id="00000000", brief="x", line=1, delivered_by="SessionStart", now=NOW
    )


def session(*summaries: int) -> Any:
    told = [{"summary_line": line} for line in summaries]
    return SimpleNamespace(id="s", state={**new_state(), "compactions": told})


def test_a_brief_sent_a_moment_ago_for_a_boundary_that_is_not_there_is_waited_for(
    store: SQLiteStore,
) -> None:
    sent(store)
    assert is_unwritten(store, session(), claude_code, NOW + 1)
    assert is_unwritten(store, session(0), claude_code, NOW + 1)


def test_nobody_waits_for_what_is_written_is_old_or_was_never_sent(store: SQLiteStore) -> None:
    assert not is_unwritten(store, session(), claude_code, NOW + 1), "a compaction given up"
    sent(store)
    assert not is_unwritten(store, session(12), claude_code, NOW + 1)
    assert not is_unwritten(store, session(), claude_code, NOW + FRESH)
    assert not is_unwritten(store, session(), droid, NOW + 1), "its log never shows one"
