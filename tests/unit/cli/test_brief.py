"""`holdfast brief`: any transcript, any budget, never beyond the limits."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.brief.roles import built_in_templates
from holdfast.hosts import claude_code
from holdfast.services.doctor.self_test import SelfTest
from holdfast.tokens.estimate import Estimator, utf16_units
from tests.terminal import CommandResult, Terminal

BUDGETS = [1, 10, 40, 60, 75, 100, 300, 500, 1000, 2000, 5000, 10**12]

# The example session runs on a model that counts by the earlier tokenizer.
estimate = Estimator.for_model("claude-sonnet-4-5").estimate


@pytest.fixture
def transcript(rehearsal: SelfTest) -> str:
    return rehearsal.transcript


def prompt(text: str) -> str:
    return json.dumps({"type": "user", "message": {"role": "user", "content": text}}) + "\n"


def check(ran: CommandResult, budget: int) -> str:
    """The text of a brief that ran without a word too many."""
    assert ran.code == 0, ran.err
    assert estimate(ran.out) <= budget
    assert utf16_units(ran.out) <= claude_code.MAX_BRIEF_UNITS
    return ran.out


def test_a_brief_of_a_file_needs_no_store(terminal: Terminal, transcript: str) -> None:
    ran = terminal.run("brief", "--transcript", transcript)
    text = check(ran, 2000)
    assert text.startswith("# Where this session stands (holdfast:")
    assert "Never touch anything under migrations/" in text
    assert "tokens (estimated)" in ran.err
    assert not terminal.store.exists()


def test_no_budget_is_ever_exceeded(terminal: Terminal, transcript: str) -> None:
    for budget in BUDGETS:
        ran = terminal.run("brief", "--transcript", transcript, "--max-tokens", budget)
        text = check(ran, budget)
        told = terminal.run(
            "brief", "--transcript", transcript, "--max-tokens", budget, "--json"
        ).json
        assert told["text"] == text, budget
        assert (told["tokens"], told["characters"]) == (estimate(text), utf16_units(text)), budget
        assert (told["budget"], told["character_cap"]) == (budget, claude_code.MAX_BRIEF_UNITS), (
            budget
        )
        if budget >= 300:
            assert told["shown"], budget
        if not text:
            assert f"A brief does not fit into {budget} tokens." in ran.err, budget


def test_a_brief_contains_nothing_of_later_lines(terminal: Terminal, transcript: str) -> None:
    for line in [1, 2, 3, 10, 60, 107, 214, 215, 230, 10_000]:
        for budget in (60, 300, 1000):
            ran = terminal.run(
                "brief", "--transcript", transcript, "--until-line", line, "--max-tokens", budget,
                "--json",
            )  # fmt: skip
            check(CommandResult(ran.code, ran.json["text"], ran.err), budget)
            items = ran.json["shown"] + ran.json["left_out"]
            assert all(item["line"] <= line for item in items), line


def test_the_same_transcript_gives_the_same_bytes(terminal: Terminal, transcript: str) -> None:
    argv = ["brief", "--transcript", transcript, "--max-tokens", "900"]
    outs = [terminal.process(*argv, PYTHONHASHSEED=seed).stdout for seed in ("1", "2", "3")]
    assert len(set(outs)) == 1
    assert outs[0].decode() == terminal.run(*argv).out


def test_a_compressed_file_gives_the_same_brief(
    terminal: Terminal, transcript: str, tmp_path: Path
) -> None:
    packed = tmp_path / "session.jsonl.gz"
    packed.write_bytes(gzip.compress(Path(transcript).read_bytes()))
    for cut in ([], ["--until-line", "100"]):
        plain = terminal.run("brief", "--transcript", transcript, *cut)
        assert terminal.run("brief", "--transcript", packed, *cut) == plain


def test_every_role_has_its_own_brief(terminal: Terminal, transcript: str) -> None:
    argv = ("brief", "--transcript", transcript, "--max-tokens", 700)
    texts = [check(terminal.run(*argv, "--role", role), 700) for role in built_in_templates()]
    assert len(set(texts)) == len(texts)
    refused = terminal.run("brief", "--transcript", transcript, "--role", "chef")
    assert refused.code == 1
    assert "orchestrator" in refused.err


@pytest.mark.parametrize(
    ("agent_type", "role"),
    [
        ("tech-lead", "orchestrator"),
        ("backend-laravel", "developer"),
        ("db-specialist", "specialist"),
        ("reviewer", "validator"),
    ],
)
def test_the_type_of_an_agent_gives_its_role(
    terminal: Terminal, transcript: str, agent_type: str, role: str
) -> None:
    argv = ("brief", "--transcript", transcript)
    by_type = terminal.run(*argv, "--agent-type", agent_type)
    assert by_type.out == terminal.run(*argv, "--role", role).out


def test_the_brief_does_not_repeat_the_summary(
    terminal: Terminal, rehearsal: SelfTest, tmp_path: Path
) -> None:
    summary = tmp_path / "summary.txt"
    summary.write_text(rehearsal.demo.summary, encoding="utf-8")
    argv: list[Any] = ["brief", "--transcript", rehearsal.transcript, "--until-line", 214, "--json"]
    whole = terminal.run(*argv).json
    rest = terminal.run(*argv, "--summary", summary).json
    assert whole["in_summary"] == []
    assert len(rest["in_summary"]) >= 5
    assert set(whole["names"]) - set(rest["names"])
    assert len(rest["shown"]) + len(rest["left_out"]) < len(whole["shown"]) + len(whole["left_out"])
    assert estimate(rest["text"]) <= 2000


def test_an_unreadable_summary_is_an_error(
    terminal: Terminal, transcript: str, tmp_path: Path
) -> None:
    for path in (tmp_path / "missing", tmp_path):
        ran = terminal.run("brief", "--transcript", transcript, "--summary", path)
        assert (ran.code, ran.out) == (1, "")
        assert f"--summary: cannot read {path} (" in ran.err
        assert "\nhint: " in ran.err


def wrong_missing(folder: Path) -> Path:
    return folder / "missing.jsonl"


def wrong_folder(folder: Path) -> Path:
    return folder


def wrong_empty(folder: Path) -> Path:
    (folder / "empty.jsonl").touch()
    return folder / "empty.jsonl"


def wrong_text(folder: Path) -> Path:
    (folder / "README.md").write_text("# A page\n\nNot a session.\n", encoding="utf-8")
    return folder / "README.md"


def wrong_json(folder: Path) -> Path:
    (folder / "package.json").write_text('{"name": "courier"}\n[1]\n"x"\n', encoding="utf-8")
    return folder / "package.json"


def wrong_binary(folder: Path) -> Path:
    (folder / "image").write_bytes(bytes(range(256)) * 100)
    return folder / "image"


def wrong_packing(folder: Path) -> Path:
    (folder / "not.jsonl.gz").write_text("plain", encoding="utf-8")
    return folder / "not.jsonl.gz"


def wrong_cut_packing(folder: Path) -> Path:
    (folder / "cut.jsonl.gz").write_bytes(gzip.compress(prompt("hello").encode() * 100)[:-20])
    return folder / "cut.jsonl.gz"


@pytest.mark.parametrize(
    "wrong",
    [
        *(wrong_missing, wrong_folder, wrong_empty, wrong_text, wrong_json, wrong_binary),
        *(wrong_packing, wrong_cut_packing),
    ],
)
def test_a_file_that_is_not_a_transcript_is_an_error_with_a_hint(
    terminal: Terminal, tmp_path: Path, wrong: Any
) -> None:
    (tmp_path / "wrong").mkdir()
    path = wrong(tmp_path / "wrong")
    ran = terminal.run("brief", "--transcript", path)
    assert (ran.code, ran.out) == (1, "")
    error, hint = ran.err.splitlines()
    assert error.startswith(f"error: The transcript cannot be read: {path}")
    assert hint == "hint: give the path of a session's .jsonl file"


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--until-line", "3"], "--until-line needs --transcript"),
        (["--transcript", "x", "--until-line", "0"], "--until-line takes a positive number"),
        (["--transcript", "x", "--max-tokens", "0"], "--max-tokens takes a positive number"),
        (["--max-tokens", "-5"], "--max-tokens takes a positive number"),
    ],
)
def test_invalid_options_are_errors(terminal: Terminal, flags: list[str], told: str) -> None:
    ran = terminal.run("brief", *flags)
    assert (ran.code, ran.out) == (1, "")
    assert told in ran.err


def test_a_session_and_a_file_at_once_are_refused(terminal: Terminal) -> None:
    for command in (["brief"], ["recall", "x"]):
        assert terminal.run(*command, "--session", "s", "--transcript", "t").code == 2


@pytest.mark.parametrize("text", ["half a sign \ud83d", "😀" * 6000, "é" * 9000, "x" * 300_000])
def test_text_of_any_kind_stays_within_both_budgets(
    terminal: Terminal, tmp_path: Path, text: str
) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(prompt(f"Never do this: {text}") + prompt(text), encoding="utf-8")
    for budget in (60, 300, 2000, 10**6):
        check(terminal.run("brief", "--transcript", path, "--max-tokens", budget), budget)
        told = terminal.run("brief", "--transcript", path, "--max-tokens", budget, "--json")
        assert estimate(told.json["text"]) <= budget


def test_the_sessions_own_brief_comes_from_the_store(seasoned: Terminal) -> None:
    ran = seasoned.run("brief")
    assert "Never touch anything under migrations/" in check(ran, 2000)
    assert ran.out == seasoned.run("brief", "--session", "5e55a0ce-0000-4000-8000-00000000demo").out


def test_the_users_setting_is_the_budget(seasoned: Terminal) -> None:
    seasoned.set(HOLDFAST_BRIEF_TOKENS=300)
    assert seasoned.run("brief", "--json").json["budget"] == 300
    check(seasoned.run("brief"), 300)


def test_the_calling_session_is_preferred_to_the_latest(
    seasoned: Terminal, rehearsal: SelfTest
) -> None:
    seasoned.go(seasoned.project)
    assert seasoned.run("brief").code == 1
    seasoned.set(CLAUDE_CODE_SESSION_ID=rehearsal.demo.session_id)
    assert seasoned.run("brief").code == 0


def test_a_lost_log_is_replaced_by_the_last_snapshot(
    seasoned: Terminal, rehearsal: SelfTest
) -> None:
    moved = Path(rehearsal.transcript + ".moved")
    Path(rehearsal.transcript).rename(moved)
    try:
        Path(rehearsal.transcript).write_text(prompt("Start again"), encoding="utf-8")
        assert "Never touch anything under migrations/" in seasoned.run("brief").out
    finally:
        moved.rename(rehearsal.transcript)


def test_the_brief_includes_notes_and_active_commands(seasoned: Terminal) -> None:
    project = Path(seasoned.run("status", "--json").json["sessions"][0]["project"])
    command = project / ".claude" / "commands" / "review.md"
    command.parent.mkdir(parents=True, exist_ok=True)
    command.write_text("Never approve your own change.\n")
    seasoned.run("command", "start", "review")
    seasoned.run("note", "The bank allows five attempts.", "--decision")
    text = seasoned.run("brief").out
    assert "Never approve your own change." in text
    assert "“decision: The bank allows five attempts.” (notes.md)" in text
    seasoned.run("command", "stop", "review")
    assert "Never approve your own change." not in seasoned.run("brief").out
