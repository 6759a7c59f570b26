"""`holdfast compactions`, `diff` and `away` on the example's session."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from holdfast.actions import compaction_log
from holdfast.actions.rehearse import Rehearsal
from holdfast.store.sqlite import SQLiteStore
from tests.terminal import Terminal


def test_a_compaction_is_listed_with_its_figures(seasoned: Terminal) -> None:
    told = seasoned.run("compactions", "--json").json
    (one,) = told["compactions"]
    assert (one["ordinal"], one["trigger"], one["receipt"]) == (1, "auto", "whole")
    assert one["tokens_before"] > one["tokens_after"] > 0
    assert one["tool_calls"] > 50
    assert one["seconds"] >= 0
    assert one["transcript"].endswith(".jsonl")
    assert told["older"] is None
    row = seasoned.run("compactions").out.splitlines()[1].split()
    assert (row[0], row[-1]) == ("1", "whole")


def test_everything_about_one_is_shown(seasoned: Terminal, rehearsal: Rehearsal) -> None:
    shown = seasoned.run("compactions", "show", "1")
    assert shown.code == 0
    assert rehearsal.brief.strip() in shown.out
    assert rehearsal.example.summary.strip() in shown.out
    assert "(it arrived: whole)" in shown.out
    assert "one lookup away" in shown.err


def test_the_loss_report_names_what_is_in_neither_with_its_lines(
    seasoned: Terminal, rehearsal: Rehearsal
) -> None:
    told = seasoned.run("compactions", "show", "1", "--json").json
    found = told["losses"]
    assert set(found) == {"kept", "restored", "to_recall"}
    rules = [one["text"] for one in found["restored"] if one["kind"] == "prohibition"]
    assert any(rule.startswith("Never touch anything under migrations/") for rule in rules)
    neither = told["brief"] + told["summary"]
    quoted = [one for one in found["to_recall"] if one["kind"] in ("request", "prohibition")]
    assert [one for one in quoted if one["text"] in neither] == []
    assert all(one["line"] > 0 for part in found.values() for one in part)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("show",), "which compaction"),
        (("show", "7"), "compaction 7"),
        (("show", "0"), "compaction 0"),
        (("--last", "0"), "positive"),
    ],
)
def test_what_is_not_there_is_an_error(
    seasoned: Terminal, words: tuple[str, ...], error: str
) -> None:
    done = seasoned.run("compactions", *words)
    assert done.code == 1
    assert error in done.err


def test_many_old_ones_are_summarised() -> None:
    entries = [
        {"trigger": trigger, "receipt": receipt}
        for trigger, receipt in (("auto", "whole"), ("auto", None), ("manual", "never"))
    ]
    assert compaction_log.summarised(entries) == {
        "count": 3,
        "triggers": {"auto": 2, "manual": 1},
        "receipts": {"whole": 1, "no brief": 1, "never": 1},
    }
    assert compaction_log.summarised([]) is None


def test_away_saves_keeps_the_notes_and_prints_the_line(seasoned: Terminal) -> None:
    before = len(seasoned.run("snapshots", "--json").json)
    told = seasoned.run("away")
    assert told.code == 0
    assert told.out.startswith("/compact focus on ")
    assert told.out.count("\n") == 1
    saved = seasoned.run("snapshots", "--json").json
    assert (len(saved), saved[0]["reason"]) == (before + 1, "away")
    told_json = seasoned.run("away", "--json").json
    assert "## Current State" in Path(told_json["notes"]).read_text()
    assert told_json["compact"] + "\n" == told.out


def test_two_snapshots_are_compared(seasoned: Terminal) -> None:
    first = seasoned.run("snapshots", "--json").json[-1]["id"]
    found = seasoned.run("diff", first, "now", "--json").json
    assert {one["change"] for one in found} <= {"added", "gone", "changed"}
    assert found
    assert seasoned.run("diff", first, "now").out.splitlines()[0].split() == [
        "what",
        "text",
        "line",
    ]
    same = seasoned.run("diff", first, first)
    assert (same.code, same.out) == (0, "")
    assert "Nothing is different" in same.err
    assert seasoned.run("diff", first, "nothing").code == 1


def test_an_old_compaction_is_told_in_short(seasoned: Terminal) -> None:
    with closing(SQLiteStore(str(seasoned.store / "holdfast.db"))) as store:
        (session,) = store.sessions(None)
        store.open_compaction(session["id"], 2, trigger="auto", snapshot=None, now=1.0)
        store.prune(session["id"], snapshots=1, compactions=1)
    shown = seasoned.run("compactions", "show", "1")
    assert "## The brief (it arrived: whole)\n\nkept in short" in shown.out


def test_how_many_are_listed_is_a_setting(seasoned: Terminal) -> None:
    with closing(SQLiteStore(str(seasoned.store / "holdfast.db"))) as store:
        (session,) = store.sessions(None)
        store.open_compaction(session["id"], 2, trigger="auto", snapshot=None, now=1.0)
        store.note_brief(
            session["id"], 2, brief_id="0badcafe", brief="b", line=1, delivered_by="x", now=2.0
        )
    seasoned.set(HOLDFAST_KEEP_COMPACTIONS=1)
    told = seasoned.run("compactions", "--json").json
    assert [one["ordinal"] for one in told["compactions"]] == [2]
    assert told["older"]["count"] == 1
    told = seasoned.run("compactions", "--json", "--last", "5").json
    assert ([one["ordinal"] for one in told["compactions"]], told["older"]) == ([1, 2], None)
