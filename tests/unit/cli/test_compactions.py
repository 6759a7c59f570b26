"""`holdfast compactions`, `diff` and `away` on the example session."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from holdfast.services.compaction import history
from holdfast.services.doctor.self_test import SelfTest
from holdfast.store.sqlite import SQLiteStore
from tests.terminal import Terminal


def test_a_compaction_is_listed_with_its_figures(demo_terminal: Terminal) -> None:
    output = demo_terminal.run("compactions", "--json").json
    (compaction,) = output["compactions"]
    assert (compaction["ordinal"], compaction["trigger"], compaction["receipt"]) == (
        1,
        "auto",
        "whole",
    )
    assert compaction["tokens_before"] > compaction["tokens_after"] > 0
    assert compaction["tool_calls"] > 50
    assert compaction["seconds"] >= 0
    assert compaction["transcript"].endswith(".jsonl")
    assert output["older"] is None
    row = demo_terminal.run("compactions").out.splitlines()[1].split()
    assert (row[0], row[-1]) == ("1", "whole")


def test_a_compaction_is_shown_with_its_brief_and_summary(
    demo_terminal: Terminal, self_test: SelfTest
) -> None:
    shown = demo_terminal.run("compactions", "show", "1")
    assert shown.code == 0
    assert self_test.brief.strip() in shown.out
    assert self_test.demo.summary.strip() in shown.out
    assert "(it arrived: whole)" in shown.out
    assert "can be looked up with" in shown.err
    counts = demo_terminal.run("compactions", "show", "1", "--json").json["counts"]
    assert f"Of {sum(counts.values())} things known before it" in shown.out
    for title, group in (
        ("Differs from the summary", "differs"),
        ("In neither the summary nor the brief, one lookup away", "to_recall"),
        ("Put back by the brief", "restored"),
        ("Kept by the summary", "kept"),
    ):
        assert f"## {title}: {counts[group]}\n" in shown.out


def test_the_loss_report_lists_facts_missing_from_brief_and_summary(
    demo_terminal: Terminal, self_test: SelfTest
) -> None:
    output = demo_terminal.run("compactions", "show", "1", "--json").json
    losses = output["losses"]
    assert set(losses) == {"kept", "restored", "differs", "to_recall"}
    assert output["counts"] == {group: len(facts) for group, facts in losses.items()}
    rules = [fact["text"] for fact in losses["restored"] if fact["kind"] == "prohibition"]
    assert any(rule.startswith("Never touch anything under migrations/") for rule in rules)
    context = output["brief"] + output["summary"]
    quoted = [fact for fact in losses["to_recall"] if fact["kind"] in ("request", "prohibition")]
    assert [fact for fact in quoted if fact["text"] in context] == []
    assert all(fact["line"] > 0 for facts in losses.values() for fact in facts)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("show",), "No compaction number"),
        (("show", "7"), "compaction 7"),
        (("show", "0"), "compaction 0"),
        (("--last", "0"), "positive"),
    ],
)
def test_a_missing_or_unknown_number_is_an_error(
    demo_terminal: Terminal, arguments: tuple[str, ...], error: str
) -> None:
    result = demo_terminal.run("compactions", *arguments)
    assert result.code == 1
    assert error in result.err


def test_older_compactions_are_counted_by_trigger_and_receipt() -> None:
    entries = [
        {"trigger": trigger, "receipt": receipt}
        for trigger, receipt in (("auto", "whole"), ("auto", None), ("manual", "never"))
    ]
    assert history.summarize_compactions(entries) == {
        "count": 3,
        "triggers": {"auto": 2, "manual": 1},
        "receipts": {"whole": 1, "no brief": 1, "never": 1},
    }
    assert history.summarize_compactions([]) is None


def test_away_saves_a_snapshot_updates_the_notes_and_prints_a_compact_command(
    demo_terminal: Terminal,
) -> None:
    before = len(demo_terminal.run("snapshots", "--json").json)
    result = demo_terminal.run("away")
    assert result.code == 0
    assert result.out.startswith("/compact focus on ")
    assert result.out.count("\n") == 1
    saved = demo_terminal.run("snapshots", "--json").json
    assert (len(saved), saved[0]["reason"]) == (before + 1, "away")
    output = demo_terminal.run("away", "--json").json
    assert "## Current State" in Path(output["notes"]).read_text()
    assert output["compact"] + "\n" == result.out


def test_two_snapshots_are_compared(demo_terminal: Terminal) -> None:
    first = demo_terminal.run("snapshots", "--json").json[-1]["id"]
    changes = demo_terminal.run("diff", first, "now", "--json").json
    assert {change["change"] for change in changes} <= {"added", "gone", "changed"}
    assert changes
    assert demo_terminal.run("diff", first, "now").out.splitlines()[0].split() == [
        "what",
        "text",
        "line",
    ]
    same = demo_terminal.run("diff", first, first)
    assert (same.code, same.out) == (0, "")
    assert "There is no difference" in same.err
    assert demo_terminal.run("diff", first, "nothing").code == 1


def test_a_brief_whose_text_was_pruned_is_rebuilt_and_says_so(
    demo_terminal: Terminal, self_test: SelfTest
) -> None:
    sent = demo_terminal.run("compactions", "show", "1", "--json").json
    with closing(SQLiteStore(str(demo_terminal.store / "holdfast.db"))) as store:
        (session,) = store.sessions(None)
        store.open_compaction(session["id"], 2, trigger="auto", snapshot=None, now=1.0)
        store.prune(session["id"], snapshots=1, compactions=1)
    shown = demo_terminal.run("compactions", "show", "1")
    assert "## The brief (it arrived: whole; not kept: " in shown.out
    output = demo_terminal.run("compactions", "show", "1", "--json").json
    assert (sent["brief_source"], output["brief_source"]) == ("sent", "rebuilt")
    assert output["counts"]["restored"] > 0


def test_the_number_of_listed_compactions_can_be_set(demo_terminal: Terminal) -> None:
    with closing(SQLiteStore(str(demo_terminal.store / "holdfast.db"))) as store:
        (session,) = store.sessions(None)
        store.open_compaction(session["id"], 2, trigger="auto", snapshot=None, now=1.0)
        store.note_brief(
            session["id"], 2, brief_id="0badcafe", brief="b", line=1, delivered_by="x", now=2.0
        )
    demo_terminal.set_env(HOLDFAST_KEEP_COMPACTIONS=1)
    output = demo_terminal.run("compactions", "--json").json
    assert [row["ordinal"] for row in output["compactions"]] == [2]
    assert output["older"]["count"] == 1
    output = demo_terminal.run("compactions", "--json", "--last", "5").json
    assert [row["ordinal"] for row in output["compactions"]] == [1, 2]
    assert output["older"] is None
