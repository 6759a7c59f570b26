"""Make transcripts of any size in the shape of real ones: mostly tool calls and their results.

As in real sessions the state grows far slower than the log: some eighty files, a rule now and then.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

WORDS = ("queue", "retry", "worker", "job", "lease", "timeout", "backoff", "handler", "schema")


def moment(second: int) -> str:
    """A second of the session, as hosts write it."""
    day, hour, minute = second // 86400 % 28 + 1, second // 3600 % 24, second // 60 % 60
    return f"2026-11-{day:02}T{hour:02}:{minute:02}:{second % 60:02}.000Z"


def lines(seed: int = 7) -> Iterator[str]:
    """An endless session: every turn a prompt, then some twenty tool calls."""
    pick = random.Random(seed)
    number = 0

    def line(kind: str, message: dict[str, Any], **more: Any) -> str:
        nonlocal number
        number += 1
        told = {
            "parentUuid": f"u{number - 1}", "isSidechain": False, "type": kind,
            "message": message, "uuid": f"u{number}", "timestamp": moment(number),
            "userType": "external", "cwd": "/home/dev/app", "sessionId": "bench",
            "version": "2.1.325", "gitBranch": "main", **more,
        }  # fmt: skip
        return json.dumps(told, separators=(",", ":")) + "\n"

    def code(count: int) -> str:
        """Tool output is code for the most part: quotes, tabs and line ends to be decoded."""
        return "\n".join(
            f'    {number}\tif {pick.choice(WORDS)}["{pick.choice(WORDS)}"] != "{prose(4)}":'
            for number in range(count)
        )

    def prose(count: int) -> str:
        return " ".join(pick.choice(WORDS) for _ in range(count))

    turn = 0
    while True:
        turn += 1
        rule = f" Never touch {prose(8)}." if turn % 6 == 0 else ""
        yield line("user", {"role": "user", "content": f"Turn {turn}: {prose(25)}.{rule}"})
        for call in range(20):
            ident = f"toolu_{turn}_{call}"
            path = f"/home/dev/app/src/{pick.choice(WORDS)}/{pick.choice(WORDS)}.py"
            usage = {"input_tokens": 5, "cache_read_input_tokens": 1000 * (turn % 150) + call * 50}
            tool: dict[str, Any] = {"type": "tool_use", "id": ident}
            output = code(pick.choice((3, 20, 60, 120)))
            result: Any = {"stdout": output, "stderr": "", "interrupted": False}
            if call % 4 == 0:
                tool |= {"name": "Read", "input": {"file_path": path}}
                result = {"type": "text", "file": {"filePath": path, "content": output}}
            elif call % 4 == 1:
                change = {"old_string": prose(30), "new_string": f"def {pick.choice(WORDS)}():"}
                tool |= {"name": "Edit", "input": {"file_path": path, **change}}
                result = {"filePath": path, "oldString": "", "newString": ""}
            else:
                tool |= {"name": "Bash", "input": {"command": f"pytest tests/test_{turn % 30}.py"}}
            message = {"id": f"msg_{turn}_{call}", "model": "claude-sonnet-4-5", "usage": usage}
            yield line("assistant", {**message, "content": [{"type": "text", "text": prose(25)}]})
            yield line("assistant", {**message, "content": [tool]})
            block = {"type": "tool_result", "tool_use_id": ident, "content": output}
            yield line("user", {"role": "user", "content": [block]}, toolUseResult=result)


def write(path: Path, size: int) -> None:
    """A transcript of at least `size` bytes."""
    written = 0
    with path.open("w", encoding="utf-8") as file:
        for text in lines():
            file.write(text)
            written += len(text)
            if written >= size:
                return


def repeat(
    path: Path, size: int, block: int = 10_000_000, words: Mapping[bytes, str] | None = None
) -> int:
    """As `write`, in a fraction of the time: one stretch again and again. How many lines it has.

    `words` are put in the place of others, to have another script.
    """
    write(path, min(size, block))
    stretch = path.read_bytes()
    for old, new in (words or {}).items():
        stretch = stretch.replace(old, new.encode())
    path.write_bytes(stretch)
    written, count, turn = len(stretch), stretch.count(b"\n"), 0
    with path.open("ab") as file:
        while written < size:
            turn += 1
            # Other messages and other calls each time, or they would count as told already.
            other = stretch.replace(b'"uuid":"u', b'"uuid":"%du' % turn)
            written += file.write(other.replace(b"toolu_", b"toolu_%d_" % turn))
            count += stretch.count(b"\n")
    return count
