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

RAW_OUTPUT = "The lock is in src/queue.py. Decision: PROCEED. " + "- a remark\n" * 400


@pytest.fixture
def handoff_id(terminal: Terminal) -> str:
    """The id of a handoff that was recorded in a session of this project."""
    store = SQLiteStore(str(terminal.store / "holdfast.db"))
    state = new_state()
    store.save_session(
        session="s1", host="claude-code", project=str(terminal.project), transcript="",
        cursor=None, state=state, revision=0, now=1.0,
    )  # fmt: skip
    event = HookEvent(
        host="claude-code", name="SubagentStop", session_id="s1", agent_id="a1",
        agent_type="Explore", last_message=RAW_OUTPUT,
    )  # fmt: skip
    ident = record_handoff(store, IngestedSession("s1", state, 0, ""), event, 2.0)
    store.close()
    return ident


def test_handoffs_are_listed_with_the_tokens_they_save(terminal: Terminal, handoff_id: str) -> None:
    result = terminal.run("handoff", "list")
    assert result.code == 0
    assert handoff_id in result.out
    assert "Explore" in result.out
    assert "PROCEED" in result.out
    assert "in handoffs" in result.err
    (row,) = terminal.run("handoff", "list", "--json").json
    assert row["id"] == handoff_id
    assert row["tokens_after"] <= 500 < row["tokens_before"]
    assert "raw" not in row


def test_a_handoff_is_shown_as_its_summary_or_raw(terminal: Terminal, handoff_id: str) -> None:
    summary, raw = (
        terminal.run("handoff", "show", handoff_id),
        terminal.run("handoff", "show", handoff_id, "--raw"),
    )
    assert "src/queue.py" in summary.out
    assert len(summary.out) < len(raw.out)
    assert raw.out.strip() == RAW_OUTPUT.strip()
    assert terminal.run("handoff", "show", handoff_id, "--json").json["raw"] == RAW_OUTPUT


@pytest.mark.usefixtures("handoff_id")
@pytest.mark.parametrize(("arguments", "error"), [
    (["show"], "No handoff id was given"),
    (["show", "00000000"], "handoff 00000000"),
    (["check", "nosuch.json"], "nosuch.json"),
])  # fmt: skip
def test_a_missing_handoff_or_file_is_an_error_with_a_hint(
    terminal: Terminal, arguments: list[str], error: str
) -> None:
    result = terminal.run("handoff", *arguments)
    assert result.code == 1
    assert error in result.err
    assert "hint:" in result.err


@pytest.mark.usefixtures("handoff_id")
def test_a_session_without_handoffs_prints_a_message(terminal: Terminal) -> None:
    store = SQLiteStore(str(terminal.store / "holdfast.db"))
    store.save_session(
        session="s2", host="claude-code", project=str(terminal.project), transcript="",
        cursor=None, state=new_state(), revision=0, now=9.0,
    )  # fmt: skip
    store.close()
    result = terminal.run("handoff", "list", "--session", "s2")
    assert (result.code, result.out) == (0, "")
    assert "No sub-agent" in result.err


VALID_RESPONSE = {
    "status": "complete",
    "decision": "PROCEED",
    "context_summary": "Extend src/auth.ts.",
}


def test_check_reads_a_response_from_a_file_or_stdin_and_lists_its_problems(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "response.json"
    file.write_text(json.dumps(VALID_RESPONSE), encoding="utf-8")
    result = terminal.run("handoff", "check", file)
    assert result.code == 0
    assert "Extend src/auth.ts." in result.out
    monkeypatch.setattr("sys.stdin", io.StringIO("I searched for auth in all of the files."))
    result = terminal.run("handoff", "check")
    assert result.code == 1
    assert "status is missing" in result.err
    assert "how it was found" in result.err
    monkeypatch.setattr("sys.stdin", io.StringIO("words " * 900))
    output = terminal.run("handoff", "check", "-", "--json").json
    assert output["tokens"] <= 500 < output["raw_tokens"]


def test_the_rules_for_sub_agents_are_a_separate_section(terminal: Terminal) -> None:
    path = terminal.project / "CLAUDE.md"
    path.write_text("# Mine\n", encoding="utf-8")
    assert terminal.run("instructions", "add").code == 0
    assert terminal.run("instructions", "add", "--handoff").code == 0
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
