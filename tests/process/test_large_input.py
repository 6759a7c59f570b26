"""Real processes read very large and malformed transcripts in bounded memory, without errors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bench import transcripts

from .hook_session import HOOK_TIMEOUT_SECONDS, HookSession
from .waiting import wait_until

MEGABYTE = 1_000_000
MAX_EXTRA_MEMORY_BYTES = 60 * MEGABYTE
LONG_LINE_BYTES = 50 * MEGABYTE
# VmHWM is the peak of this process; the value of `getrusage` would include that of its parent.
PRINT_PEAK = """
import sys
from holdfast.services.recall.from_file import load_state
state = load_state(sys.argv[1])
peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(state["lines"], peak)
"""


def fold_in_process(path: Path) -> tuple[int, int]:
    """Fold a transcript in a new process; return the number of lines and its peak memory."""
    process = subprocess.run(
        [sys.executable, "-c", PRINT_PEAK, str(path)], capture_output=True, text=True, check=True,
        timeout=HOOK_TIMEOUT_SECONDS,
    )  # fmt: skip
    lines, kilobytes = process.stdout.split()
    return int(lines), int(kilobytes) * 1024


@pytest.fixture(scope="module")
def small_transcript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("small") / "session.jsonl"
    transcripts.write(path, 50_000)
    return path


@pytest.fixture(scope="module")
def base_memory(small_transcript: Path) -> int:
    """The peak memory of a process that folds a small transcript, in bytes."""
    if not Path("/proc/self/status").exists():
        pytest.skip("/proc exists only on Linux")
    return fold_in_process(small_transcript)[1]


def test_two_hundred_megabytes_are_folded_in_little_memory(
    tmp_path: Path, base_memory: int
) -> None:
    path = tmp_path / "session.jsonl"
    written = transcripts.repeat(path, 200 * MEGABYTE)
    lines, peak = fold_in_process(path)
    assert lines == written
    assert peak - base_memory <= MAX_EXTRA_MEMORY_BYTES


@pytest.mark.slow
def test_two_hundred_megabytes_of_other_scripts_are_folded_in_little_memory(
    tmp_path: Path, base_memory: int
) -> None:
    path = tmp_path / "session.jsonl"
    written = transcripts.repeat(path, 200 * MEGABYTE, words={b"queue": "队列", b"retry": "🚀"})
    assert "🚀".encode() in path.read_bytes()[:MEGABYTE]
    lines, peak = fold_in_process(path)
    assert lines == written
    assert peak - base_memory <= MAX_EXTRA_MEMORY_BYTES


def make_line(role: str, content: Any, *, is_escaped: bool = True) -> bytes:
    """A line of the transcript, with `\\u` escapes for characters outside ASCII or without."""
    line = {"type": role, "message": {"role": role, "content": content}}
    return json.dumps(line, ensure_ascii=is_escaped, separators=(",", ":")).encode() + b"\n"


def make_prompt(text: str, **fields: Any) -> bytes:
    message = {"role": "user", "content": text}
    return json.dumps({"type": "user", "message": message, **fields}).encode()


def make_result(content: Any, *, is_escaped: bool = True) -> bytes:
    block = {"type": "tool_result", "tool_use_id": "toolu_1_2", "content": content}
    return make_line("user", [block], is_escaped=is_escaped)


def make_long_text(end: str = "") -> str:
    return 'retry the "worker"\n' * (LONG_LINE_BYTES // 22) + end


def make_long_image() -> bytes:
    data = "QUJD" * (LONG_LINE_BYTES // 4)
    return make_result([{"type": "image", "source": {"type": "base64", "data": data}}])


def make_long_result() -> bytes:
    return make_result(make_long_text())


def make_long_prompt() -> bytes:
    return make_line("user", make_long_text())


def make_long_reply() -> bytes:
    return make_line("assistant", [{"type": "text", "text": make_long_text()}])


def make_long_result_with_emoji() -> bytes:
    return make_result(make_long_text("🚀"), is_escaped=False)


def make_long_chinese_prompt() -> bytes:
    return make_line("user", "重试队列。🚀" * (LONG_LINE_BYTES // 19), is_escaped=False)


def make_long_escaped_reply() -> bytes:
    return make_line("assistant", [{"type": "text", "text": "重试🚀" * (LONG_LINE_BYTES // 24)}])


def make_many_short_texts() -> bytes:
    return make_line("user", ["重试队列。🚀"] * (LONG_LINE_BYTES // 23), is_escaped=False)


FAST_LINES = [make_long_result, make_long_chinese_prompt]
SLOW_LINES = [
    make_long_image, make_long_prompt, make_long_reply, make_long_result_with_emoji,
    make_long_escaped_reply, make_many_short_texts,
]  # fmt: skip


@pytest.mark.parametrize(
    "make_long_line",
    [*FAST_LINES, *(pytest.param(line, marks=pytest.mark.slow) for line in SLOW_LINES)],
)
def test_a_line_of_fifty_megabytes_needs_little_more_memory_than_its_size(
    tmp_path: Path, small_transcript: Path, base_memory: int, make_long_line: Callable[[], bytes]
) -> None:
    path = tmp_path / "session.jsonl"
    short_lines, long_line = small_transcript.read_bytes(), make_long_line()
    assert len(long_line) > 0.9 * LONG_LINE_BYTES
    path.write_bytes(short_lines + long_line + make_prompt("go on") + b"\n")
    lines, peak = fold_in_process(path)
    assert lines == short_lines.count(b"\n") + 2
    assert peak - base_memory <= MAX_EXTRA_MEMORY_BYTES + len(long_line)


def test_a_hook_reads_past_a_line_of_fifty_megabytes(session: HookSession) -> None:
    session.write(session.demo.before)
    with session.transcript.open("ab") as file:
        file.write(make_long_image() + make_prompt("go on") + b"\n")
    assert session.run_hook("Stop").is_silent
    assert session.read_log() == []
    assert session.read_row()["state"]["requests"][-1]["text"] == "go on"


@pytest.mark.slow
def test_a_session_of_three_hundred_megabytes_that_is_compacted_at_once_gets_its_brief(
    session: HookSession,
) -> None:
    """Whether a machine reads it all before the deadline or not."""
    transcripts.repeat(session.transcript, 300 * MEGABYTE)
    with session.transcript.open("ab") as file:
        file.write(make_prompt("Count the seagulls.", uuid="last") + b"\n")
    assert session.run_hook("PreCompact").stdout
    assert "Count the seagulls." in session.run_hook("SessionStart", source="compact").brief

    def is_complete() -> bool:
        session.run_hook("UserPromptSubmit", text="go on")
        state = session.read_row()["state"]
        return bool(state["requests"]) and state["requests"][-1]["text"] == "Count the seagulls."

    wait_until(is_complete, "the rest of the transcript was not read")
    assert session.read_log() == []


# Malformed lines


CYCLE = (
    make_prompt("one", uuid="a", parentUuid="b", timestamp="2026-01-05T10:00:00Z")
    + b"\n"
    + make_prompt("two", uuid="b", parentUuid="a", timestamp="2026-01-05T10:00:01Z")
)
NUL_CALL = {"type": "tool_use", "id": "t0", "name": "Bash", "input": {"command": "rm \0a.py"}}
NUL_RESULT = {"type": "tool_result", "tool_use_id": "t0", "content": "\0"}
MALFORMED_LINES: dict[str, bytes] = {
    "ten thousand brackets": b"[" * 10_000 + b"]" * 10_000,
    "ten thousand objects": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    "brackets inside a message": (
        b'{"type":"user","message":{"content":' + b"[" * 10_000 + b"]" * 10_000 + b"}}"
    ),
    "a byte order mark": b"\xef\xbb\xbf" + make_prompt("marked"),
    "carriage returns": make_prompt("one") + b"\r\n" + make_prompt("two") + b"\r",
    "NUL bytes": b"\0" * 5000 + b"\n" + make_prompt("with \0 inside"),
    "a NUL in a command": (
        make_line("assistant", [NUL_CALL]) + make_line("user", [NUL_RESULT]).strip()
    ),
    "not UTF-8": b'{"type":"user","message":{"content":"\xff\xfe\xc3("}}\n\xff\xfe\xfd',
    "not an object": b'[]\n"text"\n7\nnull\ntrue\nNaN',
    "a cycle of parents": CYCLE,
    "a line that is its own parent": make_prompt("alone", uuid="a", parentUuid="a"),
    "a time in the future": make_prompt("later", uuid="z", timestamp="9999-12-31T23:59:59Z"),
    "invalid times": (
        make_prompt("when", uuid="y", timestamp="-1") + b"\n" + make_prompt("x", timestamp=7)
    ),
}


def run_state(session: HookSession) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "holdfast", "state", "--transcript"]
    command += [str(session.transcript), "--json"]
    return subprocess.run(
        command, capture_output=True, text=True, env=session.environment, check=False,
        timeout=HOOK_TIMEOUT_SECONDS,
    )  # fmt: skip


@pytest.mark.parametrize("name", MALFORMED_LINES)
def test_lines_after_a_malformed_one_are_read(session: HookSession, name: str) -> None:
    session.write(session.demo.before)
    before = session.transcript.read_bytes().count(b"\n")
    with session.transcript.open("ab") as file:
        file.write(MALFORMED_LINES[name] + b"\n" + make_prompt("go on") + b"\n")
    result = run_state(session)
    assert (result.returncode, result.stderr) == (0, "")
    state = json.loads(result.stdout)
    last = before + MALFORMED_LINES[name].count(b"\n") + 2
    assert (state["requests"][-1]["text"], state["requests"][-1]["line"]) == ("go on", last)
    assert session.run_hook("Stop").is_silent
    assert session.read_log() == []
    assert session.read_row()["state"] == session.fold_transcript()


@pytest.mark.parametrize("name", MALFORMED_LINES)
def test_a_transcript_with_only_malformed_lines_causes_no_traceback(
    session: HookSession, name: str
) -> None:
    session.transcript.write_bytes(MALFORMED_LINES[name] + b"\n")
    result = run_state(session)
    assert result.returncode in (0, 1)
    assert "Traceback" not in result.stderr
    assert (result.returncode == 1) == result.stderr.startswith("error: ")
    assert session.run_hook("PreCompact").exit_code == 0


def make_folder(path: Path) -> None:
    path.mkdir()


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_symlink_loop(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.parametrize("make", [make_folder, make_pipe, make_symlink_loop])
def test_a_transcript_that_is_not_a_regular_file_is_refused(
    session: HookSession, make: Callable[[Path], None]
) -> None:
    make(session.transcript)
    result = run_state(session)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("error: ")
    assert str(session.transcript) in result.stderr
    assert session.run_hook("PreCompact").is_silent
    assert len(session.read_log()) == 1
