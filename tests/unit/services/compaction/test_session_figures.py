"""The context of a session over time, with its compactions and snapshots."""

from __future__ import annotations

import os

from holdfast import settings
from holdfast.demo import append_lines
from holdfast.services.compaction.recover import recover_session
from holdfast.services.compaction.session_figures import load_context_history, load_status
from holdfast.services.doctor.self_test import SelfTest
from holdfast.store.sqlite import SQLiteStore
from tests.terminal import Terminal
from tests.unit.transcript_lines import usage_line, user


def test_the_history_has_points_compactions_snapshots_and_thresholds(
    demo_terminal: Terminal, self_test: SelfTest
) -> None:
    store = SQLiteStore(str(demo_terminal.store / "holdfast.db"))
    (row,) = store.sessions(None)
    config = settings.load(os.environ)
    history = load_context_history(store, row, row["state"], config, {})
    (compaction,) = history.compactions
    before = [point for point in history.points if point.line < compaction["line"]]
    after = [point for point in history.points if point.line > compaction["line"]]
    assert max(point.tokens for point in before) > max(point.tokens for point in after)
    assert self_test.snapshot is not None
    assert self_test.snapshot["id"] in [saved.id for saved in history.snapshots]
    assert history.compacts_at == compaction["tokens_before"]
    assert history.zones == {"yellow": 100_000, "orange": 140_000, "red": 170_000,
                             "critical": 190_000}  # fmt: skip
    assert (
        load_context_history(
            store, row, row["state"], config, {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "80000"}
        ).compacts_at
        == 80_000
    )
    store.close()


def test_an_alarm_tells_that_the_last_brief_did_not_arrive(demo_terminal: Terminal) -> None:
    store = SQLiteStore(str(demo_terminal.store / "holdfast.db"))
    (row,) = store.sessions(None)
    config = settings.load(os.environ)
    assert load_status(store, row, config, {}).alarm is None
    store.note_receipt(row["id"], 1, "never", None)
    assert load_status(store, row, config, {}).alarm == "the last brief did not arrive"
    store.close()


def test_the_zone_and_the_turns_left_follow_the_context(terminal: Terminal) -> None:
    path = str(terminal.root / "log.jsonl")
    lines = [user("go"), usage_line(120_000), user("on"), usage_line(150_000, id="m2"), user("on")]
    append_lines(path, lines)
    store = SQLiteStore(str(terminal.store / "holdfast.db"))
    recover_session(store, path, 1_790_000_000.0)
    (row,) = store.sessions(None)
    status = load_status(store, row, settings.load(os.environ), {})
    assert (status.percent, status.zone) == (75.0, "orange")
    assert (status.growth_per_turn, status.turns_left) == (30_000, 1)
    assert status.compacts_at == 200_000
    store.close()
