"""`holdfast compactions show` on a rollout of Codex, which keeps user messages verbatim."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

from holdfast.store.sqlite import SQLiteStore
from holdfast.transcript.codex import render_remaining_context
from tests.terminal import Terminal
from tests.unit import rollout_lines as codex

REQUEST = "Make the retry back off. Never touch the migrations folder."
ENCRYPTED = codex.compacted("", codex.prompt(REQUEST))
ENCRYPTED["payload"]["replacement_history"].append({"type": "compaction", "encrypted_content": "x"})
READABLE = codex.compacted("They worked on payments.", codex.prompt(REQUEST))
KEPT_MESSAGES = f"## Messages that the host kept verbatim\n\n{REQUEST}\n"


def record_compacted_session(terminal: Terminal, boundary: codex.Line) -> Path:
    """Record a session and its compaction as hooks do, and return the path of the rollout."""
    before = [codex.meta(cwd=str(terminal.project)), codex.prompt(REQUEST), codex.tokens(60_000)]
    file = terminal.root / "rollout.jsonl"
    lines = [*before, boundary, codex.reply("Going on.")]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert terminal.run("recover", file).code == 0
    with closing(SQLiteStore(str(terminal.store / "holdfast.db"))) as store:
        store.open_compaction(codex.SESSION, 1, trigger="auto", snapshot=None, now=1.0)
        store.note_summary(codex.SESSION, 1, render_remaining_context(boundary["payload"]))
    return file


def test_an_encrypted_summary_is_labelled_and_kept_messages_are_shown(terminal: Terminal) -> None:
    record_compacted_session(terminal, ENCRYPTED)
    shown = terminal.run("compactions", "show", "1").out
    assert "## The host's summary\n\nencrypted: " in shown
    assert KEPT_MESSAGES in shown
    output = terminal.run("compactions", "show", "1", "--json").json
    assert (output["summary"], output["summary_sealed"]) == ("", True)
    assert output["kept_words"] == REQUEST


def test_a_readable_summary_is_separated_from_kept_messages(terminal: Terminal) -> None:
    record_compacted_session(terminal, READABLE)
    shown = terminal.run("compactions", "show", "1").out
    assert "## The host's summary\n\nThey worked on payments.\n\n##" in shown
    assert KEPT_MESSAGES in shown
    output = terminal.run("compactions", "show", "1", "--json").json
    assert (output["summary"], output["summary_sealed"]) == ("They worked on payments.", False)


def test_without_the_rollout_summary_and_kept_messages_are_one_section(terminal: Terminal) -> None:
    record_compacted_session(terminal, READABLE).unlink()
    shown = terminal.run("compactions", "show", "1").out
    stored_text = f"They worked on payments.\n\n{REQUEST}\n"
    assert f"## The host's summary, with messages that it kept\n\n{stored_text}" in shown


def test_secrets_in_summary_and_kept_messages_are_redacted(terminal: Terminal) -> None:
    key = "sk-ant-" + "a1B2" * 8
    record_compacted_session(
        terminal, codex.compacted(f"It used {key}.", codex.prompt(f"Use {key}."))
    )
    shown = terminal.run("compactions", "show", "1").out
    assert shown.count("[redacted:anthropic-key]") == 2
    assert key not in shown
