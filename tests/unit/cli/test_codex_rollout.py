"""Commands that read a transcript, on a Codex rollout, plain and compressed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import zstandard

from tests.terminal import Terminal
from tests.unit import rollout_lines as codex

NAME = f"rollout-2026-01-05T10-00-00-{codex.SESSION}.jsonl"


@pytest.fixture
def rollout(terminal: Terminal) -> Path:
    root = str(terminal.project)
    lines = [
        codex.meta(cwd=root),
        codex.turn(cwd=root),
        codex.prompt("# AGENTS.md instructions for here\n\nAlways whisper."),
        codex.prompt("Make the retry back off. Never touch the migrations folder."),
        codex.plan(Prove_the_third_delay="in_progress"),
        codex.output("Plan updated"),
        *codex.apply_patch("*** Update File: src/retry.py", "@@", "+    return 2.0"),
        *codex.exec_command("python3 -m unittest test_retry", "AssertionError: 6.0 != 4.0\n", 1),
        codex.tokens(60_000),
        codex.compacted("They worked on payments."),
        codex.reply("Going on."),
    ]
    file = terminal.root / "sessions" / "2026" / "01" / "05" / NAME
    file.parent.mkdir(parents=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


def compress(file: Path) -> None:
    """Replace a rollout by its compressed form, as Codex does with old sessions."""
    compressed = file.with_name(f"{file.name}.zst")
    compressed.write_bytes(zstandard.ZstdCompressor().compress(file.read_bytes()))
    file.unlink()


def test_a_brief_of_a_rollout_has_requests_files_and_commands(
    terminal: Terminal, rollout: Path
) -> None:
    brief = terminal.run("brief", "--transcript", rollout).out
    for fact in (
        "Make the retry back off", "Never touch the migrations folder", "Prove the third delay",
        "src/retry.py", "python3 -m unittest test_retry", "AssertionError: 6.0 != 4.0",
    ):  # fmt: skip
        assert fact in brief
    assert "whisper" not in brief


@pytest.mark.parametrize("compressed", [False, True])
def test_a_rollout_can_be_imported_and_searched(
    terminal: Terminal, rollout: Path, compressed: bool
) -> None:
    if compressed:
        compress(rollout)
    (session,) = terminal.run("recover", terminal.root / "sessions", "--json").json["recovered"]
    assert (session["session"], session["requests"], session["compactions"]) == (
        codex.SESSION,
        1,
        1,
    )
    second_run = terminal.run("recover", terminal.root / "sessions", "--json").json
    assert second_run["recovered"] == [session]
    assert terminal.run("state", "--json").json["files"]["src/retry.py"]["edits"] == 1
    hits = terminal.run("recall", "migrations", "--json").out
    assert "Never touch the migrations folder" in hits
    assert "Make the retry back off" in terminal.run("show", "L4").out
    assert "AssertionError" in terminal.run("recall", "L10").out


def test_a_rollout_compressed_after_the_import_is_still_found(
    terminal: Terminal, rollout: Path
) -> None:
    terminal.run("recover", rollout)
    compress(rollout)
    assert "Make the retry back off" in terminal.run("show", "L4").out
    assert "Prove the third delay" in terminal.run("brief").out


def test_the_timeline_of_a_rollout_shows_turns_edits_and_checks(
    terminal: Terminal, rollout: Path
) -> None:
    terminal.run("recover", rollout)
    timeline = terminal.run("timeline").out
    for text in ("Make the retry back off", "src/retry.py", "unittest", "60,000 tokens"):
        assert text in timeline


def test_doctor_reports_a_rollout_that_cannot_be_decoded(terminal: Terminal, rollout: Path) -> None:
    terminal.run("recover", rollout)
    rollout.write_text('{"type":"novelty","body":"x"}\n' * 200, encoding="utf-8")
    # The rollout was replaced, so this command reads it again.
    terminal.run("state")
    findings = terminal.run("doctor", "--json").json["findings"]
    (finding,) = [finding for finding in findings if finding["name"] == "transcript"]
    assert "nothing in it was understood" in finding["detail"]
