"""`holdfast gc`: shows what would be deleted, deletes it only with --yes."""

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
def cluttered(terminal: Terminal) -> Terminal:
    ledger = open_local_ledger(str(terminal.store / "ledger.db"))
    with closing(ledger.database):
        messages.send(ledger, time.time() - 90 * 86_400, ident="old", from_agent_id="a")
    return terminal


def count_snapshots(terminal: Terminal) -> int:
    ledger = open_local_ledger(str(terminal.store / "ledger.db"))
    with closing(ledger.database):
        return ledger.count(MESSAGES)


def test_without_yes_nothing_is_deleted(cluttered: Terminal) -> None:
    ran = cluttered.run("gc")
    assert ran.code == 1
    assert "1 messages" in ran.err
    assert "--yes" in ran.err
    dry = cluttered.run("gc", "--dry-run", "--yes", "--json")
    assert (dry.code, dry.json["messages"], dry.json["done"]) == (0, 1, False)
    assert count_snapshots(cluttered) == 1


def test_with_yes_it_is_deleted(cluttered: Terminal) -> None:
    assert cluttered.run("gc", "--yes").code == 0
    assert count_snapshots(cluttered) == 0
    assert "nothing to delete" in cluttered.run("gc").err


def test_newer_data_is_kept(cluttered: Terminal) -> None:
    assert cluttered.run("gc", "--yes", "--days", "100", "--json").json["messages"] == 0
    assert count_snapshots(cluttered) == 1


@pytest.mark.parametrize("argv", [("--days", "0"), ("--team",)])
def test_invalid_options_are_explained(terminal: Terminal, argv: tuple[str, ...]) -> None:
    ran = terminal.run("gc", *argv)
    assert ran.code == 1
    assert ran.err.startswith("error: ")


def test_compressed_snapshots_are_shown_and_compared_as_before(seasoned: Terminal) -> None:
    """A restore after it works too: it reads the richest."""
    with closing(SQLiteStore(str(seasoned.store / "holdfast.db"))) as store:
        (row,) = store.sessions(None, 1)
        state = {**row["state"], "lines": row["state"]["lines"] + 1}
        made = [store.add_snapshot(row["id"], "auto", state, 5.0 + n) for n in range(3)]
        for number, ident in enumerate(made, 2):
            store.open_compaction(row["id"], number, trigger="auto", snapshot=ident, now=5.0)
        store.database.run("UPDATE snapshots SET created_at = created_at - 1e9")
    asked = [
        ("compactions", "show", "1", "--json"), ("diff", made[0], made[2]),
        ("snapshot", "show", made[1], "--json"), ("brief",),
    ]  # fmt: skip
    before = [seasoned.run(*words) for words in asked]
    ran = seasoned.run("gc", "--yes", "--json").json
    assert ran["packed"] >= 3
    assert ran["bytes"] > 0
    assert [seasoned.run(*words) for words in asked] == before
    assert [answer.code for answer in before] == [0, 0, 0, 0]


def test_a_dry_run_shows_the_bytes(cluttered: Terminal) -> None:
    assert "bytes" in cluttered.run("gc", "--dry-run").err
    assert cluttered.run("gc", "--dry-run", "--json").json["bytes"] > 0
