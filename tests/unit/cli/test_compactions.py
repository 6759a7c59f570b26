"""`holdfast compactions`, `diff` and `away` on the example's session."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from holdfast.services.compaction import history
from holdfast.services.doctor.self_test import SelfTest
from holdfast.store.sqlite import SQLiteStore
from tests.terminal import Terminal


def test_a_compaction_is_listed_with_its_figures(seasoned: Terminal) -> None:
    output = seasoned.run("compactions", "--json").json
    (one,) = output["compactions"]
    assert (one["ordinal"], one["trigger"], one["receipt"]) == (1, "auto", "whole")
    assert one["tokens_before"] > one["tokens_after"] > 0
    assert one["tool_calls"] > 50
    assert one["seconds"] >= 0
    assert one["transcript"].endswith(".jsonl")
    assert output["older"] is None
    row = seasoned.run("compactions").out.splitlines()[1].split()
    assert (row[0], row[-1]) == ("1", "whole")


def test_one_compaction_is_shown_completely(seasoned: Terminal, rehearsal: SelfTest) -> None:
    shown = seasoned.run("compactions", "show", "1")
    assert shown.code == 0
    assert rehearsal.brief.strip() in shown.out
    assert rehearsal.demo.summary.strip() in shown.out
    assert "(it arrived: whole)" in shown.out
    assert "can be looked up with" in shown.err


def test_the_loss_report_names_what_is_in_neither_with_its_lines(
    seasoned: Terminal, rehearsal: SelfTest
) -> None:
    output = seasoned.run("compactions", "show", "1", "--json").json
    found = output["losses"]
    assert set(found) == {"kept", "restored", "to_recall"}
    rules = [one["text"] for one in found["restored"] if one["kind"] == "prohibition"]
    assert any(rule.startswith("Never touch anything under migrations/") for rule in rules)
    neither = output["brief"] + output["summary"]
    quoted = [one for one in found["to_recall"] if one["kind"] in ("request", "prohibition")]
    assert [one for one in quoted if one["text"] in neither] == []
    assert all(one["line"] > 0 for part in found.values() for one in part)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("show",), "No compaction number"),
        (("show", "7"), "compaction 7"),
        (("show", "0"), "compaction 0"),
        (("--last", "0"), "positive"),
    ],
)
def test_an_unknown_number_is_an_error(
    seasoned: Terminal, words: tuple[str, ...], error: str
) -> None:
    done = seasoned.run("compactions", *words)
    assert done.code == 1
    assert error in done.err


def test_older_compactions_are_summarized() -> None:
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


def test_away_saves_updates_the_notes_and_prints_the_line(seasoned: Terminal) -> None:
    before = len(seasoned.run("snapshots", "--json").json)
    output = seasoned.run("away")
    assert output.code == 0
    assert output.out.startswith("/compact focus on ")
    assert output.out.count("\n") == 1
    saved = seasoned.run("snapshots", "--json").json
    assert (len(saved), saved[0]["reason"]) == (before + 1, "away")
    data = seasoned.run("away", "--json").json
    assert "## Current State" in Path(data["notes"]).read_text()
    assert data["compact"] + "\n" == output.out


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
    assert "There is no difference" in same.err
    assert seasoned.run("diff", first, "nothing").code == 1


def test_an_old_compaction_is_shown_without_texts(seasoned: Terminal) -> None:
    with closing(SQLiteStore(str(seasoned.store / "holdfast.db"))) as store:
        (session,) = store.sessions(None)
        store.open_compaction(session["id"], 2, trigger="auto", snapshot=None, now=1.0)
        store.prune(session["id"], snapshots=1, compactions=1)
    shown = seasoned.run("compactions", "show", "1")
    assert "## The brief (it arrived: whole)\n\nnot kept" in shown.out


def test_the_number_of_listed_compactions_is_a_setting(seasoned: Terminal) -> None:
    with closing(SQLiteStore(str(seasoned.store / "holdfast.db"))) as store:
        (session,) = store.sessions(None)
        store.open_compaction(session["id"], 2, trigger="auto", snapshot=None, now=1.0)
        store.note_brief(
            session["id"], 2, brief_id="0badcafe", brief="b", line=1, delivered_by="x", now=2.0
        )
    seasoned.set(HOLDFAST_KEEP_COMPACTIONS=1)
    output = seasoned.run("compactions", "--json").json
    assert [one["ordinal"] for one in output["compactions"]] == [2]
    assert output["older"]["count"] == 1
    output = seasoned.run("compactions", "--json", "--last", "5").json
    assert ([one["ordinal"] for one in output["compactions"]], output["older"]) == ([1, 2], None)
