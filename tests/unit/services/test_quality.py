"""What one's own compactions lost and cost, from the store and the logs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast import settings
from holdfast.demo import append_lines
from holdfast.services import quality
from holdfast.services.compaction.recover import recover_session
from holdfast.services.compaction.report import load_cost, load_losses
from holdfast.store.sqlite import SQLiteStore
from tests.terminal import Terminal
from tests.unit.transcript_lines import boundary, reply, summary, usage_line, user


@pytest.fixture
def demo_store(demo_terminal: Terminal) -> Iterator[SQLiteStore]:
    with closing(SQLiteStore(str(demo_terminal.store / "holdfast.db"))) as store:
        yield store


@pytest.fixture
def store(terminal: Terminal) -> Iterator[SQLiteStore]:
    with closing(SQLiteStore(str(terminal.store / "holdfast.db"))) as opened:
        yield opened


def recover(store: SQLiteStore, folder: Path, name: str, *lines: dict[str, Any]) -> None:
    path = folder / f"{name}.jsonl"
    append_lines(str(path), lines)
    recover_session(store, str(path), 1_790_000_000.0)


def test_a_compaction_has_the_same_figures_as_its_own_report(demo_store: SQLiteStore) -> None:
    config = settings.load(os.environ)
    (record,) = quality.list_recorded(demo_store, config)
    assert record.receipt == "whole"
    assert record.brief_tokens
    assert record.brief_tokens > 500
    assert quality.sum_deliveries([record]).whole == 1
    (measured,) = quality.measure(demo_store, [record], config)
    (row,) = demo_store.sessions(None)
    losses = load_losses(demo_store, row, row["state"], 1)
    assert losses is not None
    assert measured.counts is not None
    counts = measured.counts
    assert (counts.kept, counts.restored, counts.differs, counts.to_recall) == tuple(
        map(len, losses)
    )
    assert counts.known == sum(map(len, losses)) > 0
    assert (measured.cost, measured.no_cost_reason) == load_cost(row, row["state"], 1, config)


def test_a_brief_whose_text_is_no_longer_kept_leaves_dashes(demo_store: SQLiteStore) -> None:
    demo_store.database.run("UPDATE compactions SET brief = NULL, summary = NULL")
    config = settings.load(os.environ)
    (record,) = quality.list_recorded(demo_store, config)
    assert (record.brief_tokens, record.no_tokens_reason) == (None, quality.BRIEF_NOT_KEPT)
    (measured,) = quality.measure(demo_store, [record], config)
    assert measured.counts is not None, "the log still has the summary"
    assert measured.counts.restored is None
    assert measured.counts.to_recall is None
    assert measured.no_counts_reason == quality.BRIEF_NOT_KEPT


def test_each_compaction_of_a_log_is_measured_in_one_pass(
    terminal: Terminal, store: SQLiteStore
) -> None:
    turns = [
        [user(f"Never touch folder{n}/."), reply("Done."), usage_line(90_000 + n, id=f"m{n}"),
         boundary(trigger="auto", preTokens=90_000), summary()]
        for n in range(3)
    ]  # fmt: skip
    recover(store, terminal.root, "s1", *[line for turn in turns for line in turn], user("Go on"))
    config = settings.load(os.environ)
    records = quality.list_recorded(store, config)
    assert sorted(one.ordinal for one in records) == [1, 2, 3]
    (row,) = store.sessions(None)
    measured = quality.measure(store, records, config)
    assert [one.record for one in measured] == records
    for one in measured:
        number = one.record.ordinal
        losses = load_losses(store, row, row["state"], number)
        assert losses is not None
        assert one.counts is not None
        assert one.counts.known == sum(map(len, losses)), number
        assert one.cost == load_cost(row, row["state"], number, config)[0], number


def test_compactions_from_before_holdfast_count_as_no_failure(
    terminal: Terminal, store: SQLiteStore
) -> None:
    recover(store, terminal.root, "s1", user("Fix it"), boundary(trigger="auto"), summary(),
            reply("Fixed."))  # fmt: skip
    (record,) = quality.list_recorded(store, settings.load(os.environ))
    totals = quality.sum_deliveries([record])
    assert (totals.expected, totals.before_holdfast) == (0, 1)
    assert record.no_tokens_reason == quality.BEFORE_HOLDFAST


def test_a_log_that_is_gone_is_a_reason_and_no_zero(terminal: Terminal, store: SQLiteStore) -> None:
    recover(store, terminal.root, "s1", user("Fix it"), boundary(trigger="auto"), summary(),
            reply("Fixed."))  # fmt: skip
    config = settings.load(os.environ)
    records = quality.list_recorded(store, config)
    (terminal.root / "s1.jsonl").unlink()
    (measured,) = quality.measure(store, records, config)
    assert measured.counts is None
    assert measured.no_counts_reason
    assert measured.cost is None
    assert measured.no_cost_reason


def test_the_list_ends_at_its_limit_with_the_latest_first(
    terminal: Terminal, store: SQLiteStore
) -> None:
    for number in range(4):
        at = f"2026-01-0{number + 1}T10:00:00.000Z"
        lines = [user("Fix it"), boundary(trigger="auto"), reply("Fixed.")]
        recover(
            store,
            terminal.root,
            f"s{number}",
            *[{**one, "timestamp": at, "sessionId": f"s{number}"} for one in lines],
        )
    records = quality.list_recorded(store, settings.load(os.environ), 3)
    assert [record.session for record in records] == ["s3", "s2", "s1"]


def test_hooks_are_listed_with_their_last_duration(store: SQLiteStore) -> None:
    store.record_hook("codex", "Stop", "s1", 12.0, 5.0)
    store.record_hook("codex", "PreCompact", "s1", 40.0, 6.0)
    store.record_hook("codex", "PreCompact", "s1", 30.0, 7.0)
    runs = [(run.event, run.times, run.milliseconds) for run in quality.list_hook_runs(store)]
    assert runs == [("PreCompact", 2, 30.0), ("Stop", 1, 12.0)]
