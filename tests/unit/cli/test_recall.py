"""`holdfast recall`, `show` and `index`."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from holdfast.services.doctor.self_test import SelfTest
from holdfast.tokens.estimate import estimate_tokens
from tests.terminal import Terminal


def test_recall_opens_a_ref_and_searches_words(demo_terminal: Terminal) -> None:
    result = demo_terminal.run("recall", "L107")
    assert result.code == 0
    heading, text = result.out.split("\n", 1)
    assert re.fullmatch(r"L107 prompt \d{4}-\d\d-\d\d \d\d:\d\d", heading)
    assert text.startswith("Now the worker. Don't serialise the retries")
    assert demo_terminal.run("recall", "we", "tried", "a", "global", "lock").out.startswith(
        "L107 prompt"
    )
    (hit,) = demo_terminal.run("recall", "L107", "--json").json["hits"]
    assert (hit["ref"], hit["kind"]) == ("L107", "prompt")


def test_every_ref_of_a_brief_can_be_opened(demo_terminal: Terminal) -> None:
    refs = re.findall(r"\(L\d+\)", demo_terminal.run("brief").out)
    assert len(refs) > 20
    for ref in set(refs):
        assert demo_terminal.run("recall", ref).out.startswith(f"{ref.strip('()')} ")


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_no_hit_prints_a_message_and_exits_with_1(
    demo_terminal: Terminal, flags: list[str]
) -> None:
    result = demo_terminal.run("recall", "xylophone", *flags)
    assert result.code == 1
    assert (result.json["hits"] if flags else result.out) == ([] if flags else "")
    assert re.fullmatch(r"Nothing in .*courier matches 'xylophone'\.\n", result.err)


def test_hits_that_do_not_fit_are_counted(demo_terminal: Terminal) -> None:
    result = demo_terminal.run("recall", "jitter", "--max-tokens", 60)
    assert result.code == 0
    assert estimate_tokens(result.out) <= 60
    assert re.search(r"^\d+ more do not fit into 60 tokens", result.err)


@pytest.mark.parametrize("query", ["", "  ", "\n"])
def test_an_empty_query_is_an_error(demo_terminal: Terminal, query: str) -> None:
    result = demo_terminal.run("recall", query)
    assert (result.code, result.out) == (1, "")
    assert "No search words were given" in result.err


def test_unusual_queries_exit_with_1_and_a_short_message(demo_terminal: Terminal) -> None:
    assert demo_terminal.run("recall", "🎉🎉🎉").code == 1
    result = demo_terminal.run("recall", "x" * 100_000)
    assert result.code == 1
    assert len(result.err) < 400
    assert demo_terminal.run("recall", "[bold]", ":warning:").code == 1
    assert demo_terminal.run("recall", "--max-tokens", "0", "x").code == 1


def test_a_missing_line_is_an_error(demo_terminal: Terminal) -> None:
    result = demo_terminal.run("recall", "L99999")
    assert (result.code, result.out) == (1, "")
    assert "has no line L99999" in result.err


@contextmanager
def hide_file(path: str) -> Iterator[None]:
    """Rename a file for the duration of the block."""
    os.rename(path, f"{path}.hidden")
    try:
        yield
    finally:
        os.rename(f"{path}.hidden", path)


def test_a_transcript_deleted_before_it_was_indexed_is_an_error(
    demo_terminal: Terminal, self_test: SelfTest
) -> None:
    with hide_file(self_test.transcript):
        result = demo_terminal.run("recall", "lock")
        assert (result.code, result.out) == (1, "")
        assert f"{self_test.transcript} is gone, and was never indexed" in result.err
        assert demo_terminal.run("status").code == 0


def test_a_deleted_transcript_is_replaced_by_the_stored_copy(
    demo_terminal: Terminal, self_test: SelfTest
) -> None:
    before = demo_terminal.run("recall", "global lock").out
    with hide_file(self_test.transcript):
        result = demo_terminal.run("recall", "global lock")
        assert result.out.replace(" (stored copy)", "") == before
        assert "this is the stored copy" in result.err
        shown = demo_terminal.run("show", "L107")
        assert shown.out.startswith("Now the worker.")
        assert "stored copy" in shown.err
        (line,) = demo_terminal.run("show", "L107", "--json").json
        assert line["source"] == "stored copy"
        hits = demo_terminal.run("recall", "L107", "--json").json["hits"]
        assert hits[0]["source"] == "stored copy"


def test_hits_can_be_filtered_by_kind_tool_time_and_file(demo_terminal: Terminal) -> None:
    def find_kinds(*options: object) -> set[str]:
        result = demo_terminal.run("recall", "jitter", "--json", "--max-tokens", 9000, *options)
        return {hit["kind"] for hit in result.json["hits"]}

    assert {"prompt", "tool_call", "tool_result"} <= find_kinds()
    assert find_kinds("--kind", "prompt") == {"prompt"}
    assert find_kinds("--tool", "Read") == {"tool_call", "tool_result"} & find_kinds(
        "--tool", "Read"
    )
    assert find_kinds("--since", "2001-01-01") == find_kinds()
    assert find_kinds("--since", "2999-01-01") == set()
    assert find_kinds("--before-compaction", "--kind", "prompt") == {"prompt"}
    assert find_kinds("--file", "src/courier/backoff.py")
    assert find_kinds("--file", "no/such/file.py") == set()
    assert demo_terminal.run("recall", "x", "--since", "soon").code == 1


def test_sessions_of_other_projects_are_found_only_with_an_option(
    demo_terminal: Terminal, tmp_path: Path, self_test: SelfTest
) -> None:
    session = self_test.demo.session_id
    other_project = tmp_path / "elsewhere"
    other_project.mkdir()
    demo_terminal.change_folder(other_project)
    result = demo_terminal.run("recall", "global lock")
    assert (result.code, result.out) == (1, "")
    assert "--all-projects" in result.err
    for options in (
        ["--all-projects"],
        ["--session", session],
        ["--project", self_test.demo.project_dir],
    ):
        assert "L107 prompt" in demo_terminal.run("recall", "global lock", *options).out
    assert demo_terminal.run("recall", f"{session}:L107", "--all-projects").code == 0


def test_the_session_that_runs_the_command_determines_the_project(
    demo_terminal: Terminal, tmp_path: Path, self_test: SelfTest
) -> None:
    demo_terminal.change_folder(tmp_path)
    demo_terminal.set_env(CLAUDE_CODE_SESSION_ID=self_test.demo.session_id)
    assert demo_terminal.run("recall", "global lock").out.startswith("L107 prompt")


def test_show_prints_raw_lines(demo_terminal: Terminal, self_test: SelfTest) -> None:
    with open(self_test.transcript, encoding="utf-8") as file:
        raw_lines = file.read().splitlines()
    assert demo_terminal.run("show", "L107").out == raw_lines[106] + "\n"
    assert demo_terminal.run("show", "L3-5").out == "\n".join(raw_lines[2:5]) + "\n"
    assert demo_terminal.run("show", "(L107)", "--json").json == [
        {"ref": "L107", "source": "transcript", "content": json.loads(raw_lines[106])}
    ]
    session = self_test.demo.session_id
    assert demo_terminal.run("show", f"{session}:L107").out == raw_lines[106] + "\n"
    assert (
        demo_terminal.run("show", "L1", "--transcript", self_test.transcript).out
        == raw_lines[0] + "\n"
    )


@pytest.mark.parametrize("ref", ["", "words", "L", "missing-session:L3", "L99999", "L5-3"])
def test_show_refuses_an_invalid_or_unknown_ref(demo_terminal: Terminal, ref: str) -> None:
    result = demo_terminal.run("show", ref)
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("error: ")
    assert "hint: " in result.err or "missing-session" in result.err


def test_a_shown_line_has_no_secrets_and_no_control_characters(
    terminal: Terminal, tmp_path: Path
) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": "ghp_aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1cD3fG5 \x1b[2J"}\n')
    result = terminal.run("show", "L1", "--transcript", path)
    assert result.out == '{"a": "[redacted:github-token] [2J"}\n'


def test_index_status_shows_progress_and_rebuild_completes_it(demo_terminal: Terminal) -> None:
    (before,) = demo_terminal.run("index", "status", "--json").json["sessions"]
    assert (before["indexed"], before["behind"]) == (0, before["size"])
    result = demo_terminal.run("index", "rebuild", "--json")
    (after,) = result.json["sessions"]
    assert after["behind"] == 0 < after["indexed"]
    assert "1 of 1 transcripts were read again" in result.err
    assert demo_terminal.run("index", "rebuild", "--all").code == 0
    assert after["session"] in demo_terminal.run("index", "status").out
    assert demo_terminal.run("recall", "global lock").out.startswith("L107 prompt")


def test_a_deleted_index_is_rebuilt_by_a_lookup(demo_terminal: Terminal) -> None:
    output = demo_terminal.run("recall", "global lock").out
    for file in demo_terminal.store.glob("recall.db*"):
        file.unlink()
    assert demo_terminal.run("recall", "global lock").out == output


def test_a_damaged_index_is_rebuilt_by_a_lookup(demo_terminal: Terminal) -> None:
    output = demo_terminal.run("recall", "global lock").out
    for file in demo_terminal.store.glob("recall.db*"):
        file.unlink()
    (demo_terminal.store / "recall.db").write_bytes(b"garbage " * 1000)
    assert demo_terminal.run("recall", "global lock").out == output


def test_without_sessions_the_index_is_empty(terminal: Terminal) -> None:
    result = terminal.run("index", "status")
    assert (result.code, result.out) == (0, "")
    assert "No session is recorded here" in result.err


def test_a_lookup_imports_no_slow_modules(demo_terminal: Terminal) -> None:
    """Most of the time of a lookup is spent on imports, and an agent waits for it."""
    demo_terminal.run("recall", "lock")
    program = (
        "import sys; from holdfast import cli; cli.main(['recall', 'global lock']); "
        "print(*sys.modules, file=sys.stderr)"
    )
    process = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = set(process.stderr.split())
    assert "holdfast.search.search" in loaded
    forbidden = {
        "rich", "dataclasses", "inspect", "asyncio", "logging", "difflib", "traceback", "datetime",
        "json", "shutil", "psycopg", "holdfast.ledger", "holdfast.state.fold",
        "holdfast.transcript.decoder",
    }  # fmt: skip
    assert loaded & forbidden == set()
