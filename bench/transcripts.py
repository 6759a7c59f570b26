"""Make transcripts of any size in the shape of real ones: mostly tool calls and their results.

How many lines of each type there are for a tool call, and how long they are, is that of some forty
real sessions. As in those the state grows far slower than the log: some eighty files, a rule now
and then.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

WORDS = ("queue", "retry", "worker", "job", "lease", "timeout", "backoff", "handler", "schema")
CALLS = 12
# What agents use, as often as they do.
TOOLS = ("Bash",) * 5 + ("Read",) * 4 + ("Edit",) * 3
PLACE = {
    "isSidechain": False, "userType": "external", "cwd": "/home/dev/app",
    "sessionId": "0b7e5c1e-bench-4000-8000-000000000000", "version": "2.1.325",
    "gitBranch": "main", "slug": "glimmering-toasting-fern",
}  # fmt: skip
SPENT = {
    "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 840},
    "output_tokens": 1, "service_tier": "standard", "inference_geo": "not_available",
}  # fmt: skip


def moment(second: int) -> str:
    """A second of the session, as hosts write it."""
    day, hour, minute = second // 86400 % 28 + 1, second // 3600 % 24, second // 60 % 60
    return f"2026-11-{day:02}T{hour:02}:{minute:02}:{second % 60:02}.000Z"


def name(number: int) -> str:
    """An identity as long as hosts' own."""
    return f"u{number:07}-5e0d-4a60-81f4-d08c86bf7531"


class Session:
    """Writes one line after another."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)
        self.number = 0

    def line(self, kind: str, **fields: Any) -> str:
        """A line; its own fields stand in the middle, as hosts have it."""
        self.number += 1
        ids = {"uuid": name(self.number), "timestamp": moment(self.number)}
        first, last = ({"type": kind}, {}) if kind != "assistant" else ({}, {"type": kind})
        detail = {"toolUseResult": fields.pop("toolUseResult")} if "toolUseResult" in fields else {}
        if detail:
            detail["sourceToolAssistantUUID"] = name(self.number - 1)
        whole = {
            "parentUuid": name(self.number - 1), **PLACE, **first, **fields, **last, **ids, **detail
        }  # fmt: skip
        return json.dumps(whole, separators=(",", ":")) + "\n"

    def code(self, count: int) -> str:
        """Tool output is code for the most part: quotes, tabs and line ends to be decoded."""
        return "\n".join(
            f'    {number}\tif {self.word()}["{self.word()}"] != "{self.prose(4)}":'
            for number in range(count)
        )

    def word(self) -> str:
        return self.pick.choice(WORDS)

    def prose(self, count: int) -> str:
        return " ".join(self.word() for _ in range(count))

    def turn(self, number: int) -> Iterator[str]:
        rule = f" Never touch {self.prose(8)}." if number % 6 == 0 else ""
        words = f"Turn {number}: {self.prose(150)}.{rule}"
        yield self.line("user", message={"role": "user", "content": words})
        snapshot = {"messageId": name(self.number), "trackedFileBackups": {}, "text": "x" * 800}
        yield json.dumps({"type": "file-history-snapshot", "snapshot": snapshot}) + "\n"
        for call in range(CALLS):
            yield from self.call(number, call)
        yield self.line("system", subtype="stop_hook_summary", hookErrors=[], level=self.prose(40))

    def call(self, turn: int, call: int) -> Iterator[str]:
        """A tool call with what stands before, beside and behind it."""
        ident = f"toolu_{turn}_{call}_01BWMVYhvHmCiUU"
        tokens = {"input_tokens": 5, "cache_read_input_tokens": 1000 * (turn % 150) + call * 50}
        message = {
            "model": "claude-sonnet-4-5", "id": f"msg_{turn}_{call}_01RZwR2E6ouz",
            "type": "message", "role": "assistant",
        }  # fmt: skip
        spent = {"stop_reason": None, "stop_sequence": None, "usage": {**tokens, **SPENT}}
        request = {"requestId": "req_011CY6p2PE5BJqfwEBiQnWkv"}
        tool, output, detail = self.used(self.pick.choice(TOOLS), turn)
        thought = {"type": "thinking", "thinking": self.prose(130), "signature": "RXJ" * 250}
        said = {"type": "text", "text": self.prose(60)}
        block = said if call % 2 else thought
        yield self.line("assistant", message={**message, "content": [block], **spent}, **request)
        block = {"type": "tool_use", "id": ident, **tool, "caller": {"type": "direct"}}
        yield self.line("assistant", message={**message, "content": [block], **spent}, **request)
        beside = {"toolUseID": ident, "parentToolUseID": ident}
        hook = {"type": "hook_progress", "hookEvent": "PostToolUse", "command": self.prose(15)}
        yield self.line("progress", data=hook, **beside)
        if tool["name"] == "Bash":
            so_far = {"type": "bash_progress", "output": output[:200], "fullOutput": output[:200]}
            yield self.line("progress", data=so_far, **beside)
            yield self.line("progress", data=so_far, **beside)
        block = {"tool_use_id": ident, "type": "tool_result", "content": output}
        result = {"role": "user", "content": [block]}
        yield self.line("user", message=result, toolUseResult=detail)
        if call % 5 < 2:
            inner = {"type": "user", "message": result, "uuid": "a", "timestamp": moment(turn)}
            work = {"message": inner, "type": "agent_progress", "prompt": "", "agentId": "ab12cd"}
            yield self.line("progress", data=work, **beside)

    def used(self, tool: str, turn: int) -> tuple[dict[str, Any], str, dict[str, Any]]:
        """A tool with its input, what it prints, and what the host adds to that."""
        path = f"/home/dev/app/src/{self.word()}/{self.word()}.py"
        output = self.code(self.pick.choice((3, 20, 60, 160)))
        if tool == "Read":
            given = {"file_path": path}
            return {"name": tool, "input": given}, output, {
                "type": "text", "file": {"filePath": path, "content": output},
            }  # fmt: skip
        if tool == "Edit":
            change = {"old_string": self.prose(90), "new_string": f"def {self.word()}():"}
            given = {"file_path": path, **change}
            return {"name": tool, "input": given}, self.code(12), {
                "filePath": path, **change, "originalFile": self.code(110),
            }  # fmt: skip
        given = {"command": f"pytest tests/test_{turn % 30}.py", "description": self.prose(5)}
        return {"name": tool, "input": given}, output, {"stdout": output, "interrupted": False}


def lines(seed: int = 7) -> Iterator[str]:
    """An endless session: every turn a prompt, then some tool calls."""
    session, turn = Session(seed), 0
    while True:
        turn += 1
        yield from session.turn(turn)


def write(path: Path, size: int) -> None:
    """A transcript of at least `size` bytes that ends with a message."""
    written = 0
    with path.open("w", encoding="utf-8") as file:
        for text in lines():
            file.write(text)
            written += len(text)
            if written >= size and '"type":"user","message":' in text:
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
            # Other messages and other calls each time, or they would count as repeated.
            other = stretch.replace(b'"uuid":"u', b'"uuid":"%du' % turn)
            written += file.write(other.replace(b"toolu_", b"toolu_%d_" % turn))
            count += stretch.count(b"\n")
    return count
