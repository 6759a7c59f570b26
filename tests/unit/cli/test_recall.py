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


def test_recall_opens_a_line_and_finds_words(seasoned: Terminal) -> None:
    ran = seasoned.run("recall", "L107")
    assert ran.code == 0
    heading, text = ran.out.split("\n", 1)
    assert re.fullmatch(r"L107 prompt \d{4}-\d\d-\d\d \d\d:\d\d", heading)
    assert text.startswith("Now the worker. Don't serialise the retries")
    assert seasoned.run("recall", "we", "tried", "a", "global", "lock").out.startswith(
        "L107 prompt"
    )
    (hit,) = seasoned.run("recall", "L107", "--json").json["hits"]
    assert (hit["ref"], hit["kind"]) == ("L107", "prompt")


def test_every_ref_of_a_brief_opens(seasoned: Terminal) -> None:
    refs = re.findall(r"\(L\d+\)", seasoned.run("brief").out)
    assert len(refs) > 20
    for ref in set(refs):
        assert seasoned.run("recall", ref).out.startswith(f"{ref.strip('()')} ")


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_no_hit_prints_a_message_and_exits_with_1(seasoned: Terminal, flags: list[str]) -> None:
    ran = seasoned.run("recall", "xylophone", *flags)
    assert ran.code == 1
    assert (ran.json["hits"] if flags else ran.out) == ([] if flags else "")
    assert re.fullmatch(r"Nothing in .*courier matches 'xylophone'\.\n", ran.err)


def test_hits_that_do_not_fit_are_counted(seasoned: Terminal) -> None:
    ran = seasoned.run("recall", "jitter", "--max-tokens", 60)
    assert ran.code == 0
    assert estimate_tokens(ran.out) <= 60
    assert re.search(r"^\d+ more do not fit into 60 tokens", ran.err)


@pytest.mark.parametrize("query", ["", "  ", "\n"])
def test_an_empty_query_is_an_error(seasoned: Terminal, query: str) -> None:
    ran = seasoned.run("recall", query)
    assert (ran.code, ran.out) == (1, "")
    assert "No search words were given" in ran.err


def test_unusual_queries_are_answered(seasoned: Terminal) -> None:
    assert seasoned.run("recall", "🎉🎉🎉").code == 1
    ran = seasoned.run("recall", "x" * 100_000)
    assert ran.code == 1
    assert len(ran.err) < 400
    assert seasoned.run("recall", "[bold]", ":warning:").code == 1
    assert seasoned.run("recall", "--max-tokens", "0", "x").code == 1


def test_a_missing_line_is_an_error(seasoned: Terminal) -> None:
    ran = seasoned.run("recall", "L99999")
    assert (ran.code, ran.out) == (1, "")
    assert "has no line L99999" in ran.err


@contextmanager
def hidden(path: str) -> Iterator[None]:
    os.rename(path, f"{path}.hidden")
    try:
        yield
    finally:
        os.rename(f"{path}.hidden", path)


def test_a_transcript_that_vanished_before_it_was_indexed_is_reported(
    seasoned: Terminal, rehearsal: SelfTest
) -> None:
    with hidden(rehearsal.transcript):
        ran = seasoned.run("recall", "lock")
        assert (ran.code, ran.out) == (1, "")
        assert f"{rehearsal.transcript} is gone, and was never indexed" in ran.err
        assert seasoned.run("status").code == 0


def test_a_vanished_transcript_is_answered_from_the_stored_copy(
    seasoned: Terminal, rehearsal: SelfTest
) -> None:
    before = seasoned.run("recall", "global lock").out
    with hidden(rehearsal.transcript):
        ran = seasoned.run("recall", "global lock")
        assert ran.out.replace(" (stored copy)", "") == before
        assert "this is the stored copy" in ran.err
        shown = seasoned.run("show", "L107")
        assert shown.out.startswith("Now the worker.")
        assert "stored copy" in shown.err
        (told,) = seasoned.run("show", "L107", "--json").json
        assert told["source"] == "stored copy"
        hits = seasoned.run("recall", "L107", "--json").json["hits"]
        assert hits[0]["source"] == "stored copy"


def test_every_filter_can_be_given(seasoned: Terminal) -> None:
    def kinds(*options: object) -> set[str]:
        ran = seasoned.run("recall", "jitter", "--json", "--max-tokens", 9000, *options)
        return {hit["kind"] for hit in ran.json["hits"]}

    assert {"prompt", "tool_call", "tool_result"} <= kinds()
    assert kinds("--kind", "prompt") == {"prompt"}
    assert kinds("--tool", "Read") == {"tool_call", "tool_result"} & kinds("--tool", "Read")
    assert kinds("--since", "2001-01-01") == kinds()
    assert kinds("--since", "2999-01-01") == set()
    assert kinds("--before-compaction", "--kind", "prompt") == {"prompt"}
    assert kinds("--file", "src/courier/backoff.py")
    assert kinds("--file", "no/such/file.py") == set()
    assert seasoned.run("recall", "x", "--since", "soon").code == 1


def test_a_session_of_another_project_is_found_only_when_asked_for(
    seasoned: Terminal, tmp_path: Path, rehearsal: SelfTest
) -> None:
    session = rehearsal.demo.session_id
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    seasoned.go(elsewhere)
    ran = seasoned.run("recall", "global lock")
    assert (ran.code, ran.out) == (1, "")
    assert "--all-projects" in ran.err
    for options in (
        ["--all-projects"],
        ["--session", session],
        ["--project", rehearsal.demo.project_dir],
    ):
        assert "L107 prompt" in seasoned.run("recall", "global lock", *options).out
    assert seasoned.run("recall", f"{session}:L107", "--all-projects").code == 0


def test_the_calling_session_decides_the_project(
    seasoned: Terminal, tmp_path: Path, rehearsal: SelfTest
) -> None:
    seasoned.go(tmp_path)
    seasoned.set(CLAUDE_CODE_SESSION_ID=rehearsal.demo.session_id)
    assert seasoned.run("recall", "global lock").out.startswith("L107 prompt")


def test_show_gives_the_raw_lines(seasoned: Terminal, rehearsal: SelfTest) -> None:
    with open(rehearsal.transcript, encoding="utf-8") as file:
        raw = file.read().splitlines()
    assert seasoned.run("show", "L107").out == raw[106] + "\n"
    assert seasoned.run("show", "L3-5").out == "\n".join(raw[2:5]) + "\n"
    assert seasoned.run("show", "(L107)", "--json").json == [
        {"ref": "L107", "source": "transcript", "content": json.loads(raw[106])}
    ]
    session = rehearsal.demo.session_id
    assert seasoned.run("show", f"{session}:L107").out == raw[106] + "\n"
    assert seasoned.run("show", "L1", "--transcript", rehearsal.transcript).out == raw[0] + "\n"


@pytest.mark.parametrize("ref", ["", "words", "L", "nobody:L3", "L99999", "L5-3"])
def test_show_says_what_is_wrong_with_a_ref(seasoned: Terminal, ref: str) -> None:
    ran = seasoned.run("show", ref)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("error: ")
    assert "hint: " in ran.err or "nobody" in ran.err


def test_a_shown_line_has_no_secrets_and_no_control_characters(
    terminal: Terminal, tmp_path: Path
) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": "ghp_aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1cD3fG5 \x1b[2J"}\n')
    ran = terminal.run("show", "L1", "--transcript", path)
    assert ran.out == '{"a": "[redacted:github-token] [2J"}\n'


def test_the_index_shows_its_progress_and_is_rebuilt(seasoned: Terminal) -> None:
    (before,) = seasoned.run("index", "status", "--json").json["sessions"]
    assert (before["indexed"], before["behind"]) == (0, before["size"])
    ran = seasoned.run("index", "rebuild", "--json")
    (after,) = ran.json["sessions"]
    assert after["behind"] == 0 < after["indexed"]
    assert "1 of 1 transcripts were read again" in ran.err
    assert seasoned.run("index", "rebuild", "--all").code == 0
    assert after["session"] in seasoned.run("index", "status").out
    assert seasoned.run("recall", "global lock").out.startswith("L107 prompt")


def test_the_index_can_be_deleted_at_any_time(seasoned: Terminal) -> None:
    found = seasoned.run("recall", "global lock").out
    for file in seasoned.store.glob("recall.db*"):
        file.unlink()
    assert seasoned.run("recall", "global lock").out == found


def test_a_damaged_index_is_rebuilt_by_a_lookup(seasoned: Terminal) -> None:
    found = seasoned.run("recall", "global lock").out
    for file in seasoned.store.glob("recall.db*"):
        file.unlink()
    (seasoned.store / "recall.db").write_bytes(b"ruins " * 1000)
    assert seasoned.run("recall", "global lock").out == found


def test_without_sessions_the_index_is_empty(terminal: Terminal) -> None:
    ran = terminal.run("index", "status")
    assert (ran.code, ran.out) == (0, "")
    assert "No session is recorded here" in ran.err


def test_a_lookup_does_not_load_what_it_does_not_need(seasoned: Terminal) -> None:
    """An agent waits for a lookup, and most of its time is spent on imports."""
    seasoned.run("recall", "lock")
    program = (
        "import sys; from holdfast import cli; cli.main(['recall', 'global lock']); "
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = set(done.stderr.split())
    assert "holdfast.search.search" in loaded
    never = {
        "rich", "dataclasses", "inspect", "asyncio", "logging", "difflib", "traceback", "datetime",
        "json", "shutil", "psycopg", "holdfast.ledger", "holdfast.state.fold",
        "holdfast.transcript.decoder",
    }  # fmt: skip
    assert loaded & never == set()
