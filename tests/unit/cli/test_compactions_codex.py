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
SEALED = codex.compacted("", codex.prompt(REQUEST))
SEALED["payload"]["replacement_history"].append({"type": "compaction", "encrypted_content": "x"})
OPEN = codex.compacted("They worked on payments.", codex.prompt(REQUEST))
KEPT = f"## Messages that the host kept verbatim\n\n{REQUEST}\n"


def compacted(terminal: Terminal, boundary: codex.Line) -> Path:
    """A session whose compaction hooks took down as they read it."""
    told = [codex.meta(cwd=str(terminal.project)), codex.prompt(REQUEST), codex.tokens(60_000)]
    file = terminal.root / "rollout.jsonl"
    lines = [*told, boundary, codex.reply("Going on.")]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert terminal.run("recover", file).code == 0
    with closing(SQLiteStore(str(terminal.store / "holdfast.db"))) as store:
        store.open_compaction(codex.SESSION, 1, trigger="auto", snapshot=None, now=1.0)
        store.note_summary(codex.SESSION, 1, render_remaining_context(boundary["payload"]))
    return file


def test_an_encrypted_summary_and_kept_messages_are_shown_as_such(terminal: Terminal) -> None:
    compacted(terminal, SEALED)
    shown = terminal.run("compactions", "show", "1").out
    assert "## The host's summary\n\nencrypted: " in shown
    assert KEPT in shown
    told = terminal.run("compactions", "show", "1", "--json").json
    assert (told["summary"], told["summary_sealed"]) == ("", True)
    assert told["kept_words"] == REQUEST


def test_a_readable_summary_is_separated_from_kept_messages(terminal: Terminal) -> None:
    compacted(terminal, OPEN)
    shown = terminal.run("compactions", "show", "1").out
    assert "## The host's summary\n\nThey worked on payments.\n\n##" in shown
    assert KEPT in shown
    told = terminal.run("compactions", "show", "1", "--json").json
    assert (told["summary"], told["summary_sealed"]) == ("They worked on payments.", False)


def test_without_the_log_summary_and_messages_are_shown_together(terminal: Terminal) -> None:
    compacted(terminal, OPEN).unlink()
    shown = terminal.run("compactions", "show", "1").out
    noted = f"They worked on payments.\n\n{REQUEST}\n"
    assert f"## The host's summary, with messages that it kept\n\n{noted}" in shown


def test_secrets_in_kept_messages_are_not_shown(terminal: Terminal) -> None:
    key = "sk-ant-" + "a1B2" * 8
    compacted(terminal, codex.compacted(f"It used {key}.", codex.prompt(f"Use {key}.")))
    shown = terminal.run("compactions", "show", "1").out
    assert shown.count("[redacted:anthropic-key]") == 2
    assert key not in shown
