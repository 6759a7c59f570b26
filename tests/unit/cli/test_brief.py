"""`holdfast brief` on any transcript and budget: the output stays within both limits."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast.brief.roles import built_in_templates
from holdfast.hosts import claude_code
from holdfast.services.doctor.self_test import SelfTest
from holdfast.tokens.estimate import Estimator, utf16_units
from tests.terminal import CommandResult, Terminal

BUDGETS = [1, 10, 40, 60, 75, 100, 300, 500, 1000, 2000, 5000, 10**12]

# The model of the example session uses the earlier tokenizer.
estimate = Estimator.for_model("claude-sonnet-4-5").estimate


@pytest.fixture
def transcript(self_test: SelfTest) -> str:
    return self_test.transcript


def prompt(text: str) -> str:
    return json.dumps({"type": "user", "message": {"role": "user", "content": text}}) + "\n"


def check_limits(result: CommandResult, budget: int) -> str:
    """Check the exit code and both size limits of a brief, and return its text."""
    assert result.code == 0, result.err
    assert estimate(result.out) <= budget
    assert utf16_units(result.out) <= claude_code.MAX_BRIEF_UNITS
    return result.out


def test_a_brief_of_a_transcript_file_creates_no_store(terminal: Terminal, transcript: str) -> None:
    result = terminal.run("brief", "--transcript", transcript)
    text = check_limits(result, 3000)
    assert text.startswith("# Where this session stands (holdfast:")
    assert "Never touch anything under migrations/" in text
    assert "tokens (estimated)" in result.err
    assert not terminal.store.exists()


def test_no_budget_is_ever_exceeded(terminal: Terminal, transcript: str) -> None:
    for budget in BUDGETS:
        result = terminal.run("brief", "--transcript", transcript, "--max-tokens", budget)
        text = check_limits(result, budget)
        output = terminal.run(
            "brief", "--transcript", transcript, "--max-tokens", budget, "--json"
        ).json
        assert output["text"] == text, budget
        assert (output["tokens"], output["characters"]) == (estimate(text), utf16_units(text)), (
            budget
        )
        assert (output["budget"], output["character_cap"]) == (
            budget,
            claude_code.MAX_BRIEF_UNITS,
        ), budget
        if budget >= 300:
            assert output["shown"], budget
        if not text:
            assert f"A brief does not fit into {budget} tokens." in result.err, budget


def test_until_line_leaves_out_all_later_lines(terminal: Terminal, transcript: str) -> None:
    for line in [1, 2, 3, 10, 60, 107, 214, 215, 230, 10_000]:
        for budget in (60, 300, 1000):
            result = terminal.run(
                "brief", "--transcript", transcript, "--until-line", line, "--max-tokens", budget,
                "--json",
            )  # fmt: skip
            check_limits(CommandResult(result.code, result.json["text"], result.err), budget)
            items = result.json["shown"] + result.json["left_out"]
            assert all(item["line"] <= line for item in items), line


def test_the_same_transcript_gives_the_same_brief_in_every_process(
    terminal: Terminal, transcript: str
) -> None:
    argv = ["brief", "--transcript", transcript, "--max-tokens", "900"]
    outputs = [terminal.run_process(*argv, PYTHONHASHSEED=seed).stdout for seed in ("1", "2", "3")]
    assert len(set(outputs)) == 1
    assert outputs[0].decode() == terminal.run(*argv).out


def test_a_compressed_file_gives_the_same_brief(
    terminal: Terminal, transcript: str, tmp_path: Path
) -> None:
    compressed = tmp_path / "session.jsonl.gz"
    compressed.write_bytes(gzip.compress(Path(transcript).read_bytes()))
    for options in ([], ["--until-line", "100"]):
        plain = terminal.run("brief", "--transcript", transcript, *options)
        assert terminal.run("brief", "--transcript", compressed, *options) == plain


def test_every_role_has_its_own_brief(terminal: Terminal, transcript: str) -> None:
    argv = ("brief", "--transcript", transcript, "--max-tokens", 700)
    texts = [
        check_limits(terminal.run(*argv, "--role", role), 700) for role in built_in_templates()
    ]
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
def test_the_agent_type_determines_the_role(
    terminal: Terminal, transcript: str, agent_type: str, role: str
) -> None:
    argv = ("brief", "--transcript", transcript)
    by_type = terminal.run(*argv, "--agent-type", agent_type)
    assert by_type.out == terminal.run(*argv, "--role", role).out


def test_the_brief_does_not_repeat_the_summary(
    terminal: Terminal, self_test: SelfTest, tmp_path: Path
) -> None:
    summary = tmp_path / "summary.txt"
    summary.write_text(self_test.demo.summary, encoding="utf-8")
    argv: list[Any] = ["brief", "--transcript", self_test.transcript, "--until-line", 214, "--json"]
    without_summary = terminal.run(*argv).json
    with_summary = terminal.run(*argv, "--summary", summary).json
    assert without_summary["in_summary"] == []
    assert {"kind": "commit", "line": 171} in with_summary["in_summary"]
    fewer, more = (
        len(brief["shown"]) + len(brief["left_out"]) for brief in (with_summary, without_summary)
    )
    assert fewer < more
    assert estimate(with_summary["text"]) <= 3000


def test_an_unreadable_summary_is_an_error(
    terminal: Terminal, transcript: str, tmp_path: Path
) -> None:
    for path in (tmp_path / "missing", tmp_path):
        result = terminal.run("brief", "--transcript", transcript, "--summary", path)
        assert (result.code, result.out) == (1, "")
        assert f"--summary: cannot read {path} (" in result.err
        assert "\nhint: " in result.err


def missing_file(folder: Path) -> Path:
    return folder / "missing.jsonl"


def folder_itself(folder: Path) -> Path:
    return folder


def empty_file(folder: Path) -> Path:
    (folder / "empty.jsonl").touch()
    return folder / "empty.jsonl"


def text_file(folder: Path) -> Path:
    (folder / "README.md").write_text("# A page\n\nNot a session.\n", encoding="utf-8")
    return folder / "README.md"


def json_file(folder: Path) -> Path:
    (folder / "package.json").write_text('{"name": "courier"}\n[1]\n"x"\n', encoding="utf-8")
    return folder / "package.json"


def binary_file(folder: Path) -> Path:
    (folder / "image").write_bytes(bytes(range(256)) * 100)
    return folder / "image"


def uncompressed_gz_file(folder: Path) -> Path:
    (folder / "not.jsonl.gz").write_text("plain", encoding="utf-8")
    return folder / "not.jsonl.gz"


def truncated_gz_file(folder: Path) -> Path:
    (folder / "cut.jsonl.gz").write_bytes(gzip.compress(prompt("hello").encode() * 100)[:-20])
    return folder / "cut.jsonl.gz"


@pytest.mark.parametrize(
    "make_file",
    [
        *(missing_file, folder_itself, empty_file, text_file, json_file, binary_file),
        *(uncompressed_gz_file, truncated_gz_file),
    ],
)
def test_a_file_that_is_not_a_transcript_is_an_error_with_a_hint(
    terminal: Terminal, tmp_path: Path, make_file: Callable[[Path], Path]
) -> None:
    (tmp_path / "wrong").mkdir()
    path = make_file(tmp_path / "wrong")
    result = terminal.run("brief", "--transcript", path)
    assert (result.code, result.out) == (1, "")
    error, hint = result.err.splitlines()
    assert error.startswith(f"error: The transcript cannot be read: {path}")
    assert hint == "hint: give the path of a session's .jsonl file"


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--until-line", "3"], "--until-line needs --transcript"),
        (["--transcript", "x", "--until-line", "0"], "--until-line takes a positive number"),
        (["--transcript", "x", "--max-tokens", "0"], "--max-tokens takes a positive number"),
        (["--max-tokens", "-5"], "--max-tokens takes a positive number"),
    ],
)
def test_invalid_options_are_errors(terminal: Terminal, options: list[str], error: str) -> None:
    result = terminal.run("brief", *options)
    assert (result.code, result.out) == (1, "")
    assert error in result.err


def test_session_and_transcript_options_exclude_each_other(terminal: Terminal) -> None:
    for command in (["brief"], ["recall", "x"]):
        assert terminal.run(*command, "--session", "s", "--transcript", "t").code == 2


@pytest.mark.parametrize("text", ["lone surrogate \ud83d", "😀" * 6000, "é" * 9000, "x" * 300_000])
def test_text_of_any_kind_stays_within_both_budgets(
    terminal: Terminal, tmp_path: Path, text: str
) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(prompt(f"Never do this: {text}") + prompt(text), encoding="utf-8")
    for budget in (60, 300, 2000, 10**6):
        check_limits(terminal.run("brief", "--transcript", path, "--max-tokens", budget), budget)
        as_json = terminal.run("brief", "--transcript", path, "--max-tokens", budget, "--json")
        assert estimate(as_json.json["text"]) <= budget


def test_without_a_transcript_the_brief_comes_from_the_store(demo_terminal: Terminal) -> None:
    result = demo_terminal.run("brief")
    assert "Never touch anything under migrations/" in check_limits(result, 3000)
    assert (
        result.out
        == demo_terminal.run("brief", "--session", "5e55a0ce-0000-4000-8000-00000000demo").out
    )


def test_the_budget_can_be_set_by_an_environment_variable(demo_terminal: Terminal) -> None:
    demo_terminal.set_env(HOLDFAST_BRIEF_TOKENS=300)
    assert demo_terminal.run("brief", "--json").json["budget"] == 300
    check_limits(demo_terminal.run("brief"), 300)


def test_the_session_that_runs_the_command_is_preferred_to_the_latest(
    demo_terminal: Terminal, self_test: SelfTest
) -> None:
    demo_terminal.change_folder(demo_terminal.project)
    assert demo_terminal.run("brief").code == 1
    demo_terminal.set_env(CLAUDE_CODE_SESSION_ID=self_test.demo.session_id)
    assert demo_terminal.run("brief").code == 0


def test_a_replaced_transcript_falls_back_to_the_last_snapshot(
    demo_terminal: Terminal, self_test: SelfTest
) -> None:
    moved = Path(self_test.transcript + ".moved")
    Path(self_test.transcript).rename(moved)
    try:
        Path(self_test.transcript).write_text(prompt("Start again"), encoding="utf-8")
        assert "Never touch anything under migrations/" in demo_terminal.run("brief").out
    finally:
        moved.rename(self_test.transcript)


def test_the_brief_includes_notes_and_active_commands(demo_terminal: Terminal) -> None:
    project = Path(demo_terminal.run("status", "--json").json["sessions"][0]["project"])
    command = project / ".claude" / "commands" / "review.md"
    command.parent.mkdir(parents=True, exist_ok=True)
    command.write_text("Never approve your own change.\n")
    demo_terminal.run("command", "start", "review")
    demo_terminal.run("note", "The bank allows five attempts.", "--decision")
    text = demo_terminal.run("brief").out
    assert "Never approve your own change." in text
    assert "“decision: The bank allows five attempts.” (notes.md)" in text
    demo_terminal.run("command", "stop", "review")
    assert "Never approve your own change." not in demo_terminal.run("brief").out
