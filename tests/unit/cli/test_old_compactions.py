"""Compactions from before Holdfast was installed: `recover`, `status` and `compactions`."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from holdfast.demo import append_lines, load_demo
from holdfast.services.time_parsing import parse_timestamp
from tests.terminal import Terminal
from tests.unit.transcript_lines import Line, boundary, reply, summary, tool_use, user

SESSION = "0a1b2c3d-0000-4000-8000-000000000001"
STARTED_AT = 1_780_000_000.0


@pytest.fixture
def archive(terminal: Terminal) -> Path:
    """A folder with the compressed log of a compacted session, in which no hook ran."""
    demo = load_demo(str(terminal.project), SESSION, STARTED_AT)
    log = terminal.root / f"{SESSION}.jsonl"
    append_lines(str(log), demo.before)
    append_lines(str(log), demo.after([], str(log)))
    folder = terminal.root / "projects" / "-project"
    folder.mkdir(parents=True)
    (folder / f"{SESSION}.jsonl.gz").write_bytes(gzip.compress(log.read_bytes()))
    log.unlink()
    return folder.parent


def find_boundary(archive: Path) -> tuple[int, str]:
    """Line and time of the compaction."""
    (path,) = archive.rglob("*.gz")
    for number, raw in enumerate(gzip.decompress(path.read_bytes()).splitlines(), 1):
        line = json.loads(raw)
        if line.get("subtype") == "compact_boundary":
            return number, line["timestamp"]
    raise AssertionError("no boundary")


def write_log(terminal: Terminal, *lines: Line) -> None:
    path = terminal.root / "log.jsonl"
    placed = [{**line, "cwd": str(terminal.project), "sessionId": "s1"} for line in lines]
    append_lines(str(path), placed)
    assert terminal.run("recover", path).code == 0


def test_recover_reads_compressed_logs_in_folders_and_says_what_was_lost(
    terminal: Terminal, archive: Path
) -> None:
    result = terminal.run("recover", archive)
    assert result.code == 0
    assert f"holdfast compactions show 1 --session {SESSION}" in result.err
    (session,) = terminal.run("recover", archive, "--json").json["recovered"]
    assert (session["session"], session["compactions"]) == (SESSION, 1)
    assert 0 < session["lost"] < session["known"]
    assert f"{session['lost']} of {session['known']}" in result.out


def test_status_counts_compactions_of_the_log_and_takes_times_from_it(
    terminal: Terminal, archive: Path
) -> None:
    terminal.run("recover", archive)
    (session,) = terminal.run("status", "--json").json["sessions"]
    (compaction,) = session["compactions"]
    line, at = find_boundary(archive)
    assert (compaction["line"], compaction["at"]) == (line, at[:19] + "Z")
    assert compaction["receipt"] is None
    assert STARTED_AT < session["seen_at"] < STARTED_AT + 30 * 86400
    row = terminal.run("status").out.splitlines()[1].split()
    assert row[-2:] == ["1", "–"]


def test_an_old_compaction_is_listed_with_the_figures_of_the_log(
    terminal: Terminal, archive: Path
) -> None:
    terminal.run("recover", archive)
    (entry,) = terminal.run("compactions", "--json").json["compactions"]
    line, at = find_boundary(archive)
    assert (entry["line"], entry["at"]) == (line, at[:19] + "Z")
    assert entry["tokens_before"] > entry["tokens_after"] > 0
    assert entry["tool_calls"] > 50
    assert (entry["snapshot"], entry["receipt"]) == (None, None)


def test_an_old_compaction_shows_what_was_lost_and_what_would_have_been_put_back(
    terminal: Terminal, archive: Path
) -> None:
    terminal.run("recover", archive)
    output = terminal.run("compactions", "show", "1", "--json").json
    assert output["brief_source"] == "would be"
    assert output["no_losses_reason"] is None
    restored = [fact["text"] for fact in output["losses"]["restored"]]
    assert any(text.startswith("Never touch anything under migrations/") for text in restored)
    assert all(count > 0 for group, count in output["counts"].items() if group != "differs")
    shown = terminal.run("compactions", "show", "1").out
    assert "the brief would have put back" in shown
    assert "## The brief (none was sent; Holdfast would have sent this)" in shown


def test_the_cost_of_forgetting_is_shown_beside_the_figures_before(terminal: Terminal) -> None:
    lines = [
        user("Make the queue retry."),
        *tool_use("Read", {"file_path": f"{terminal.project}/a.py"}, "1→x"),
        *tool_use("Bash", {"command": "git status"}, "clean"),
        *tool_use("Bash", {"command": "git log"}, "c1"),
        *tool_use("Bash", {"command": "ls"}, "a.py"),
        boundary(trigger="auto"),
        summary(),
        *tool_use("Read", {"file_path": f"{terminal.project}/a.py"}, "1→x"),
        *tool_use("Edit", {"file_path": f"{terminal.project}/a.py"}, "updated"),
        reply("Done."),
    ]
    write_log(terminal, *lines)
    shown = terminal.run("compactions", "show", "1").out
    assert "After it: 2 actions, L12–14. For comparison, right before it: 2 actions, L6–8." in shown
    rows = {line[:24].strip(): line[24:].split("  ") for line in shown.splitlines()}
    cells = {name: [cell.strip() for cell in cells if cell.strip()] for name, cells in rows.items()}
    assert cells["first edit"][0] == "action 2 of 2"
    assert cells["first edit"][1] == "no file was edited in 2 actions"
    assert cells["files read again"][0].startswith("1 of 1 (about ")
    assert cells["commands repeated"] == ["no command was run", "0 of 2"]
    assert cells["questions asked again"] == ["no question was asked"] * 2
    assert "read again  L12  a.py (before: L2; edited later" in shown
    cost = terminal.run("compactions", "show", "1", "--json").json["forgetting"]
    assert cost["after"]["files_read_again"]["items"] == [
        {"text": "a.py", "line": 12, "earlier_line": 2, "before_edit": True}
    ]


def test_a_compaction_that_a_fork_copied_says_why_nothing_can_be_told(terminal: Terminal) -> None:
    write_log(terminal, boundary(trigger="auto"), summary(), user("go on"), reply("Done."))
    output = terminal.run("compactions", "show", "1", "--json").json
    assert (output["counts"], output["losses"]) == (None, {})
    assert output["no_losses_reason"] == "the log has nothing from before it"
    assert output["forgetting"]["after"]["first_edit"]["count"] is None
    shown = terminal.run("compactions", "show", "1").out
    assert "What was lost cannot be told: the log has nothing from before it." in shown


def test_a_log_that_is_gone_says_so(terminal: Terminal) -> None:
    write_log(terminal, user("Make it retry."), boundary(), summary(), reply("Done."))
    (terminal.root / "log.jsonl").unlink()
    output = terminal.run("compactions", "show", "1", "--json").json
    assert "log.jsonl" in output["no_losses_reason"]
    assert "log.jsonl" in output["no_forgetting_reason"]
    assert terminal.run("status", "--json").json["sessions"][0]["window"] is None


def test_a_compressed_copy_does_not_replace_the_log_of_a_session(terminal: Terminal) -> None:
    write_log(terminal, user("Make it retry."), reply("Done."))
    log = terminal.root / "log.jsonl"
    copies = terminal.root / "backup"
    copies.mkdir()
    (copies / "log.jsonl.gz").write_bytes(gzip.compress(log.read_bytes()))
    result = terminal.run("recover", copies)
    assert result.code == 1
    assert "is a copy: session s1 is recorded from" in result.err
    (copies / "log.jsonl").write_bytes(log.read_bytes())
    log.unlink()
    (recovered,) = terminal.run("recover", copies, "--json").json["recovered"]
    assert recovered["path"] == str(copies / "log.jsonl"), "the uncompressed one is preferred"


def test_status_says_what_fills_the_window_and_when_the_host_will_compact(
    terminal: Terminal, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal.run("recover", archive)
    (session,) = terminal.run("status", "--json").json["sessions"]
    window = session["window"]
    assert window["tokens"] == session["context_tokens"]
    assert window["since_line"] == session["compactions"][0]["line"]
    assert window["summary"] > 0
    assert session["zone"] == "green"
    compacted_at = terminal.run("compactions", "--json").json["compactions"][0]["tokens_before"]
    assert session["compacts_at"] == compacted_at
    monkeypatch.setenv("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "90000")
    (session,) = terminal.run("status", "--json").json["sessions"]
    growth = session["growth_per_turn"]
    assert session["turns_left"] == (90_000 - session["context_tokens"]) // growth


def test_seen_is_the_time_of_the_log_after_it_is_read_again(terminal: Terminal) -> None:
    write_log(terminal, user("Make it retry."), reply("Done."))
    path = terminal.root / "log.jsonl"
    later = "2026-02-01T10:00:00.000Z"
    line = {**reply("More."), "cwd": str(terminal.project), "sessionId": "s1", "timestamp": later}
    append_lines(str(path), [line])
    (session,) = terminal.run("status", "--json").json["sessions"]
    assert session["seen_at"] == parse_timestamp(later, 0.0)
