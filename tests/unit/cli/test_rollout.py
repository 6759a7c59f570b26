"""Every reading command on a rollout of Codex, also on one that the client has compressed."""

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
        *codex.patched("*** Update File: src/retry.py", "@@", "+    return 2.0"),
        *codex.ran("python3 -m unittest test_retry", "AssertionError: 6.0 != 4.0\n", 1),
        codex.tokens(60_000),
        codex.compacted("They worked on payments."),
        codex.reply("Going on."),
    ]
    file = terminal.root / "sessions" / "2026" / "01" / "05" / NAME
    file.parent.mkdir(parents=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


def pack(file: Path) -> Path:
    """As the client does with the logs of sessions that have grown cold."""
    cold = file.with_name(f"{file.name}.zst")
    cold.write_bytes(zstandard.ZstdCompressor().compress(file.read_bytes()))
    file.unlink()
    return cold


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


@pytest.mark.parametrize("packed", [False, True])
def test_a_rollout_is_imported_with_its_host(
    terminal: Terminal, rollout: Path, packed: bool
) -> None:
    if packed:
        pack(rollout)
    (one,) = terminal.run("recover", terminal.root / "sessions", "--json").json["recovered"]
    assert (one["session"], one["requests"], one["compactions"]) == (codex.SESSION, 1, 1)
    again = terminal.run("recover", terminal.root / "sessions", "--json").json["recovered"]
    assert again == [one]
    assert terminal.run("state", "--json").json["files"]["src/retry.py"]["edits"] == 1
    hits = terminal.run("recall", "migrations", "--json").out
    assert "Never touch the migrations folder" in hits
    assert "Make the retry back off" in terminal.run("show", "L4").out
    assert "AssertionError" in terminal.run("recall", "L10").out


def test_a_log_that_was_compressed_later_is_still_found(terminal: Terminal, rollout: Path) -> None:
    terminal.run("recover", rollout)
    pack(rollout)
    assert "Make the retry back off" in terminal.run("show", "L4").out
    assert "Prove the third delay" in terminal.run("brief").out


def test_the_timeline_of_a_rollout_shows_turns_edits_and_checks(
    terminal: Terminal, rollout: Path
) -> None:
    terminal.run("recover", rollout)
    output_text = terminal.run("timeline").out
    for words in ("Make the retry back off", "src/retry.py", "unittest", "60,000 tokens"):
        assert words in output_text


def test_doctor_reports_a_log_that_it_cannot_decode(terminal: Terminal, rollout: Path) -> None:
    terminal.run("recover", rollout)
    rollout.write_text('{"type":"novelty","body":"x"}\n' * 200, encoding="utf-8")
    # A log that was replaced is read again.
    terminal.run("state")
    output_text = terminal.run("doctor", "--json").json["findings"]
    (found,) = [one for one in output_text if one["name"] == "transcript"]
    assert "nothing in it was understood" in found["detail"]
