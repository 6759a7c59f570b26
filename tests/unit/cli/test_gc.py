"""`holdfast gc`: lists old data, and deletes it only with --yes."""

from __future__ import annotations

import time
from contextlib import closing

import pytest

from holdfast.ledger import messages
from holdfast.ledger.connect import open_local_ledger
from holdfast.ledger.schema import MESSAGES
from holdfast.store.sqlite import SQLiteStore
from tests.terminal import Terminal


@pytest.fixture
def with_old_message(terminal: Terminal) -> Terminal:
    """A terminal whose ledger has a message that is 90 days old."""
    ledger = open_local_ledger(str(terminal.store / "ledger.db"))
    with closing(ledger.database):
        messages.send(ledger, time.time() - 90 * 86_400, ident="old", from_agent_id="a")
    return terminal


def count_messages(terminal: Terminal) -> int:
    ledger = open_local_ledger(str(terminal.store / "ledger.db"))
    with closing(ledger.database):
        return ledger.count(MESSAGES)


def test_without_yes_nothing_is_deleted(with_old_message: Terminal) -> None:
    result = with_old_message.run("gc")
    assert result.code == 1
    assert "1 messages" in result.err
    assert "--yes" in result.err
    dry_run = with_old_message.run("gc", "--dry-run", "--yes", "--json")
    assert (dry_run.code, dry_run.json["messages"], dry_run.json["done"]) == (0, 1, False)
    assert count_messages(with_old_message) == 1


def test_with_yes_old_messages_are_deleted(with_old_message: Terminal) -> None:
    assert with_old_message.run("gc", "--yes").code == 0
    assert count_messages(with_old_message) == 0
    assert "nothing to delete" in with_old_message.run("gc").err


def test_data_newer_than_the_given_days_is_kept(with_old_message: Terminal) -> None:
    assert with_old_message.run("gc", "--yes", "--days", "100", "--json").json["messages"] == 0
    assert count_messages(with_old_message) == 1


@pytest.mark.parametrize("argv", [("--days", "0"), ("--team",)])
def test_invalid_options_are_errors(terminal: Terminal, argv: tuple[str, ...]) -> None:
    result = terminal.run("gc", *argv)
    assert result.code == 1
    assert result.err.startswith("error: ")


def test_compressing_snapshots_does_not_change_any_output(demo_terminal: Terminal) -> None:
    with closing(SQLiteStore(str(demo_terminal.store / "holdfast.db"))) as store:
        (row,) = store.sessions(None, 1)
        state = {**row["state"], "lines": row["state"]["lines"] + 1}
        snapshots = [store.add_snapshot(row["id"], "auto", state, 5.0 + n) for n in range(3)]
        for number, ident in enumerate(snapshots, 2):
            store.open_compaction(row["id"], number, trigger="auto", snapshot=ident, now=5.0)
        store.database.run("UPDATE snapshots SET created_at = created_at - 1e9")
    commands = [
        ("compactions", "show", "1", "--json"), ("diff", snapshots[0], snapshots[2]),
        ("snapshot", "show", snapshots[1], "--json"), ("brief",),
    ]  # fmt: skip
    before = [demo_terminal.run(*command) for command in commands]
    report = demo_terminal.run("gc", "--yes", "--json").json
    assert report["packed"] >= 3
    assert report["bytes"] > 0
    assert [demo_terminal.run(*command) for command in commands] == before
    assert [result.code for result in before] == [0, 0, 0, 0]


def test_a_dry_run_prints_the_bytes_to_be_freed(with_old_message: Terminal) -> None:
    assert "bytes" in with_old_message.run("gc", "--dry-run").err
    assert with_old_message.run("gc", "--dry-run", "--json").json["bytes"] > 0
