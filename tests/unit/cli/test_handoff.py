"""`holdfast handoff` and `holdfast instructions --handoff`."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from holdfast.hosts.hook_event import HookEvent
from holdfast.services.compaction.handoffs import record_handoff
from holdfast.services.compaction.ingest import IngestedSession
from holdfast.state.fold import new_state
from holdfast.store.sqlite import SQLiteStore
from tests.terminal import Terminal

RAW = "The lock is in src/queue.py. Decision: PROCEED. " + "- a remark\n" * 400


@pytest.fixture
def handed(terminal: Terminal) -> str:
    """The id of a handoff in this project's session."""
    store = SQLiteStore(str(terminal.store / "holdfast.db"))
    state = new_state()
    store.save_session(
        session="s1", host="claude-code", project=str(terminal.project), transcript="",
        cursor=None, state=state, revision=0, now=1.0,
    )  # fmt: skip
    call = HookEvent(
        host="claude-code", name="SubagentStop", session_id="s1", agent_id="a1",
        agent_type="Explore", last_message=RAW,
    )  # fmt: skip
    ident = record_handoff(store, IngestedSession("s1", state, 0, ""), call, 2.0)
    store.close()
    return ident


def test_handoffs_are_listed_with_what_they_saved(terminal: Terminal, handed: str) -> None:
    ran = terminal.run("handoff", "list")
    assert ran.code == 0
    assert handed in ran.out
    assert "Explore" in ran.out
    assert "PROCEED" in ran.out
    assert "in handoffs" in ran.err
    (told,) = terminal.run("handoff", "list", "--json").json
    assert told["id"] == handed
    assert told["tokens_after"] <= 500 < told["tokens_before"]
    assert "raw" not in told


def test_a_handoff_is_shown_short_or_whole(terminal: Terminal, handed: str) -> None:
    short, whole = (
        terminal.run("handoff", "show", handed),
        terminal.run("handoff", "show", handed, "--raw"),
    )
    assert "src/queue.py" in short.out
    assert len(short.out) < len(whole.out)
    assert whole.out.strip() == RAW.strip()
    assert terminal.run("handoff", "show", handed, "--json").json["raw"] == RAW


@pytest.mark.usefixtures("handed")
@pytest.mark.parametrize(("words", "problem"), [
    (["show"], "No handoff id was given"),
    (["show", "00000000"], "handoff 00000000"),
    (["check", "nosuch.json"], "nosuch.json"),
])  # fmt: skip
def test_what_is_not_there_is_an_error_with_a_hint(
    terminal: Terminal, words: list[str], problem: str
) -> None:
    ran = terminal.run("handoff", *words)
    assert ran.code == 1
    assert problem in ran.err
    assert "hint:" in ran.err


def test_a_session_without_handoffs_prints_a_message(terminal: Terminal, handed: str) -> None:
    store = SQLiteStore(str(terminal.store / "holdfast.db"))
    store.save_session(
        session="s2", host="claude-code", project=str(terminal.project), transcript="",
        cursor=None, state=new_state(), revision=0, now=9.0,
    )  # fmt: skip
    store.close()
    ran = terminal.run("handoff", "list", "--session", "s2")
    assert (ran.code, ran.out) == (0, "")
    assert "No sub-agent" in ran.err


GOOD = {"status": "complete", "decision": "PROCEED", "context_summary": "Extend src/auth.ts."}


def test_a_response_is_checked(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "response.json"
    file.write_text(json.dumps(GOOD), encoding="utf-8")
    ran = terminal.run("handoff", "check", file)
    assert ran.code == 0
    assert "Extend src/auth.ts." in ran.out
    monkeypatch.setattr("sys.stdin", io.StringIO("I searched for auth in all of the files."))
    ran = terminal.run("handoff", "check")
    assert ran.code == 1
    assert "status is missing" in ran.err
    assert "how it was found" in ran.err
    monkeypatch.setattr("sys.stdin", io.StringIO("words " * 900))
    told = terminal.run("handoff", "check", "-", "--json").json
    assert told["tokens"] <= 500 < told["raw_tokens"]


def test_the_rules_for_sub_agents_are_a_separate_section(terminal: Terminal) -> None:
    path = terminal.project / "CLAUDE.md"
    path.write_text("# Mine\n", encoding="utf-8")
    assert terminal.run("instructions", "add").code == 0
    both = terminal.run("instructions", "add", "--handoff")
    assert both.code == 0
    text = path.read_text(encoding="utf-8")
    assert "## Compact Instructions" in text
    assert "at most 500 tokens" in text
    assert "nothing to do" in terminal.run("instructions", "add", "--handoff").err
    assert terminal.run("instructions", "show", "--handoff", "--json").json["current"]
    terminal.run("instructions", "remove", "--handoff")
    assert "at most 500 tokens" not in path.read_text(encoding="utf-8")
    assert "## Compact Instructions" in path.read_text(encoding="utf-8")
    terminal.run("instructions", "remove")
    assert path.read_text(encoding="utf-8") == "# Mine\n"
