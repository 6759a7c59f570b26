"""Claude Code transcripts for tests: each function returns the lines that one step leaves."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

Line = dict[str, Any]
ROOT = "/repo"
_numbers = itertools.count()


def line(kind: str, content: Any, *, cwd: str = ROOT, **more: Any) -> Line:
    return {
        "type": kind,
        "uuid": f"uuid-{next(_numbers)}",
        "cwd": cwd,
        "isSidechain": False,
        "message": {"role": kind, "content": content},
        **more,
    }


def call(
    tool: str,
    arguments: dict[str, Any],
    detail: Any = None,
    *,
    text: str = "done",
    cwd: str = ROOT,
    is_error: bool | None = None,
    **more: Any,
) -> list[Line]:
    """The line of a tool call and the line of its result."""
    ident = f"toolu_{next(_numbers)}"
    result = {"type": "tool_result", "tool_use_id": ident, "content": text}
    if is_error is not None:
        result["is_error"] = is_error
    block = {"type": "tool_use", "id": ident, "name": tool, "input": arguments}
    return [
        line("assistant", [block], cwd=cwd, **more),
        line("user", [result], cwd=cwd, toolUseResult=detail, **more),
    ]


def to_absolute(path: str) -> str:
    return path if path[:1] == "/" or path[1:2] == ":" else f"{ROOT}/{path}"


def read(path: str, **more: Any) -> list[Line]:
    absolute = to_absolute(path)
    return call(
        "Read", {"file_path": absolute}, {"type": "text", "file": {"filePath": absolute}}, **more
    )


def wrote(path: str, kind: str = "create", **more: Any) -> list[Line]:
    absolute = to_absolute(path)
    original = None if kind == "create" else "old"
    detail = {"type": kind, "filePath": absolute, "content": "new", "originalFile": original}
    return call("Write", {"file_path": absolute, "content": "new"}, detail, **more)


def edited(path: str, **more: Any) -> list[Line]:
    absolute = to_absolute(path)
    detail = {"filePath": absolute, "oldString": "a", "newString": "b", "originalFile": "a"}
    arguments = {"file_path": absolute, "old_string": "a", "new_string": "b"}
    return call("Edit", arguments, detail, **more)


def bash(command: str, *, stdout: str = "", stderr: str = "", **more: Any) -> list[Line]:
    detail = {"stdout": stdout, "stderr": stderr, "interrupted": False, "isImage": False}
    return call("Bash", {"command": command}, detail, text=stdout, is_error=False, **more)


def bash_failed(command: str) -> list[Line]:
    return call(
        "Bash", {"command": command}, "Error: Exit code 1", text="Exit code 1", is_error=True
    )


def backups(**files: str | None) -> list[Line]:
    tracked = {path: {"backupFileName": name, "version": 1} for path, name in files.items()}
    return [{"type": "file-history-snapshot", "snapshot": {"trackedFileBackups": tracked}}]


def compacted() -> list[Line]:
    """A compaction whose summary has no content."""
    return [
        line("system", None, subtype="compact_boundary"),
        line("user", "This session is being continued …", isCompactSummary=True),
    ]


def text_of(*steps: list[Line]) -> str:
    """Return the transcript as text."""
    return "\n".join(json.dumps(line) for step in steps for line in step) + "\n"


def prompt(text: str, **more: Any) -> list[Line]:
    """A prompt of the user."""
    return [line("user", text, **more)]


def reply(text: str) -> list[Line]:
    return [line("assistant", [{"type": "text", "text": text}])]


def compaction_summary(text: str) -> list[Line]:
    """A compaction with the summary that the host wrote."""
    return [
        line("system", None, subtype="compact_boundary"),
        line("user", f"This session is being continued …\n{text}", isCompactSummary=True),
    ]


def session_file(folder: Path, *steps: list[Line], name: str = "owner__repo__one.jsonl") -> str:
    """Write a transcript and return its path."""
    file = folder / name
    file.write_text(text_of(*steps), encoding="utf-8")
    return str(file)
