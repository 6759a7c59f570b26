"""Logs of any size and shape, read by real processes: bounded memory, no crash, no hanging."""

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

from .scene import PATIENCE, Scene

MEGABYTE = 1_000_000
ROOM = 60 * MEGABYTE
LONG = 50 * MEGABYTE
# What the kernel counts for a process itself: `getrusage` would begin with the parent's figure.
FOLD = """
import sys
from holdfast.services.recall.from_file import load_state
state = load_state(sys.argv[1])
peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(state["lines"], peak)
"""


def folded(path: Path) -> tuple[int, int]:
    """How many lines a fresh process folds, and the most memory that it takes, in bytes."""
    done = subprocess.run(
        [sys.executable, "-c", FOLD, str(path)], capture_output=True, text=True, check=True,
        timeout=PATIENCE,
    )  # fmt: skip
    lines, kilobytes = done.stdout.split()
    return int(lines), int(kilobytes) * 1024


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tiny") / "session.jsonl"
    transcripts.write(path, 50_000)
    return path


@pytest.fixture(scope="module")
def at_rest(tiny: Path) -> int:
    if not Path("/proc/self/status").exists():
        pytest.skip("only Linux tells the memory of a process in /proc")
    return folded(tiny)[1]


def test_two_hundred_megabytes_are_folded_in_little_memory(tmp_path: Path, at_rest: int) -> None:
    path = tmp_path / "session.jsonl"
    written = transcripts.repeat(path, 200 * MEGABYTE)
    lines, peak = folded(path)
    assert lines == written
    assert peak - at_rest <= ROOM


@pytest.mark.slow
def test_the_same_in_other_scripts(tmp_path: Path, at_rest: int) -> None:
    path = tmp_path / "session.jsonl"
    written = transcripts.repeat(path, 200 * MEGABYTE, words={b"queue": "队列", b"retry": "🚀"})
    assert "🚀".encode() in path.read_bytes()[:MEGABYTE]
    lines, peak = folded(path)
    assert lines == written
    assert peak - at_rest <= ROOM


def told(kind: str, content: Any) -> bytes:
    line = {"type": kind, "message": {"role": kind, "content": content}}
    return json.dumps(line).encode() + b"\n"


def prompt(words: str, **fields: Any) -> bytes:
    message = {"role": "user", "content": words}
    return json.dumps({"type": "user", "message": message, **fields}).encode()


def an_image() -> bytes:
    image = {"type": "image", "source": {"type": "base64", "data": "QUJD" * (LONG // 4)}}
    return told("user", [{"type": "tool_result", "tool_use_id": "toolu_1_2", "content": [image]}])


def words(sign: str = "") -> str:
    return 'retry the "worker"\n' * (LONG // 22) + sign


def a_result() -> bytes:
    return told("user", [{"type": "tool_result", "tool_use_id": "toolu_1_2", "content": words()}])


def a_prompt() -> bytes:
    return told("user", words())


def a_reply() -> bytes:
    return told("assistant", [{"type": "text", "text": words()}])


def a_result_with_an_emoji() -> bytes:
    block = {"type": "tool_result", "tool_use_id": "toolu_1_2", "content": words("🚀")}
    line = {"type": "user", "message": {"role": "user", "content": [block]}}
    return json.dumps(line, ensure_ascii=False).encode() + b"\n"


def a_prompt_in_chinese() -> bytes:
    line = {"type": "user", "message": {"role": "user", "content": "重试队列。🚀" * (LONG // 19)}}
    return json.dumps(line, ensure_ascii=False).encode() + b"\n"


def an_escaped_reply() -> bytes:
    return told("assistant", [{"type": "text", "text": "重试🚀" * (LONG // 24)}])


def very_many_short_texts() -> bytes:
    line = {"type": "user", "message": {"role": "user", "content": ["重试队列。🚀"] * (LONG // 23)}}
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


FAST = [a_result, a_prompt_in_chinese]
SLOW = [an_image, a_prompt, a_reply, a_result_with_an_emoji, an_escaped_reply]
SLOW += [very_many_short_texts]


@pytest.mark.parametrize(
    "line", [*FAST, *(pytest.param(line, marks=pytest.mark.slow) for line in SLOW)]
)
def test_a_line_of_fifty_megabytes_takes_little_more_memory_than_itself(
    tmp_path: Path, tiny: Path, at_rest: int, line: Callable[[], bytes]
) -> None:
    path, few, long = tmp_path / "session.jsonl", tiny.read_bytes(), line()
    assert len(long) > 0.9 * LONG
    path.write_bytes(few + long + prompt("go on") + b"\n")
    lines, peak = folded(path)
    assert lines == few.count(b"\n") + 2
    assert peak - at_rest <= ROOM + len(long)


def test_a_hook_reads_past_a_line_of_fifty_megabytes(scene: Scene) -> None:
    scene.write(scene.demo.before)
    with scene.transcript.open("ab") as file:
        file.write(an_image() + prompt("go on") + b"\n")
    assert scene.fire("Stop").is_silent
    assert scene.log() == []
    assert scene.row()["state"]["requests"][-1]["text"] == "go on"


# Shapes


CYCLE = (
    prompt("one", uuid="a", parentUuid="b", timestamp="2026-01-05T10:00:00Z")
    + b"\n"
    + prompt("two", uuid="b", parentUuid="a", timestamp="2026-01-05T10:00:01Z")
)
ODD = {"type": "tool_use", "id": "t0", "name": "Bash", "input": {"command": "rm \0a.py"}}
DONE = {"type": "tool_result", "tool_use_id": "t0", "content": "\0"}
SHAPES: dict[str, bytes] = {
    "ten thousand brackets": b"[" * 10_000 + b"]" * 10_000,
    "ten thousand objects": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    "brackets inside a message": (
        b'{"type":"user","message":{"content":' + b"[" * 10_000 + b"]" * 10_000 + b"}}"
    ),
    "a byte order mark": b"\xef\xbb\xbf" + prompt("marked"),
    "carriage returns": prompt("one") + b"\r\n" + prompt("two") + b"\r",
    "NUL bytes": b"\0" * 5000 + b"\n" + prompt("with \0 inside"),
    "a NUL in a command": told("assistant", [ODD]) + told("user", [DONE]).strip(),
    "no UTF-8": b'{"type":"user","message":{"content":"\xff\xfe\xc3("}}\n\xff\xfe\xfd',
    "no object": b'[]\n"text"\n7\nnull\ntrue\nNaN',
    "parents in a circle": CYCLE,
    "its own parent": prompt("alone", uuid="a", parentUuid="a"),
    "a time that is yet to come": prompt("later", uuid="z", timestamp="9999-12-31T23:59:59Z"),
    "times that are none": (
        prompt("when", uuid="y", timestamp="-1") + b"\n" + prompt("x", timestamp=7)
    ),
}


def shown(scene: Scene, path: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "holdfast", "state", "--transcript", str(path), "--json"]
    return subprocess.run(
        command, capture_output=True, text=True, env=scene.environment, timeout=PATIENCE,
        check=False,
    )  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_no_malformed_line_stops_the_lines_after_it(scene: Scene, name: str) -> None:
    scene.write(scene.demo.before)
    before = scene.transcript.read_bytes().count(b"\n")
    with scene.transcript.open("ab") as file:
        file.write(SHAPES[name] + b"\n" + prompt("go on") + b"\n")
    told = shown(scene, scene.transcript)
    assert (told.returncode, told.stderr) == (0, "")
    state = json.loads(told.stdout)
    last = before + SHAPES[name].count(b"\n") + 2
    assert (state["requests"][-1]["text"], state["requests"][-1]["line"]) == ("go on", last)
    assert scene.fire("Stop").is_silent
    assert scene.log() == []
    assert scene.row()["state"] == scene.folded()


@pytest.mark.parametrize("name", SHAPES)
def test_a_file_of_malformed_lines_is_reported(scene: Scene, name: str) -> None:
    scene.transcript.write_bytes(SHAPES[name] + b"\n")
    told = shown(scene, scene.transcript)
    assert told.returncode in (0, 1)
    assert "Traceback" not in told.stderr
    assert (told.returncode == 1) == told.stderr.startswith("error: ")
    assert scene.fire("PreCompact").code == 0


def a_folder(path: Path) -> None:
    path.mkdir()


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_loop(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.parametrize("make", [a_folder, a_pipe, a_loop])
def test_a_transcript_that_is_not_a_regular_file_is_refused(
    scene: Scene, make: Callable[[Path], None]
) -> None:
    make(scene.transcript)
    told = shown(scene, scene.transcript)
    assert (told.returncode, told.stdout) == (1, "")
    assert told.stderr.startswith("error: ")
    assert str(scene.transcript) in told.stderr
    assert scene.fire("PreCompact").is_silent
    assert len(scene.log()) == 1
