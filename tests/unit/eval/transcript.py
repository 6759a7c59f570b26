"""Hand-made Claude Code transcripts: each step is the lines that the client writes for it."""

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
    given: dict[str, Any],
    account: Any = None,
    *,
    text: str = "done",
    cwd: str = ROOT,
    is_error: bool | None = None,
    **more: Any,
) -> list[Line]:
    """The line that asks for a tool and the one that brings its result."""
    key = f"toolu_{next(_numbers)}"
    result = {"type": "tool_result", "tool_use_id": key, "content": text}
    if is_error is not None:
        result["is_error"] = is_error
    used = {"type": "tool_use", "id": key, "name": tool, "input": given}
    return [
        line("assistant", [used], cwd=cwd, **more),
        line("user", [result], cwd=cwd, toolUseResult=account, **more),
    ]


def in_full(path: str) -> str:
    return path if path[:1] == "/" or path[1:2] == ":" else f"{ROOT}/{path}"


def read(path: str, **more: Any) -> list[Line]:
    full = in_full(path)
    return call("Read", {"file_path": full}, {"type": "text", "file": {"filePath": full}}, **more)


def wrote(path: str, kind: str = "create", **more: Any) -> list[Line]:
    full = in_full(path)
    original = None if kind == "create" else "old"
    account = {"type": kind, "filePath": full, "content": "new", "originalFile": original}
    return call("Write", {"file_path": full, "content": "new"}, account, **more)


def edited(path: str, **more: Any) -> list[Line]:
    full = in_full(path)
    account = {"filePath": full, "oldString": "a", "newString": "b", "originalFile": "a"}
    given = {"file_path": full, "old_string": "a", "new_string": "b"}
    return call("Edit", given, account, **more)


def bash(command: str, *, stdout: str = "", stderr: str = "", **more: Any) -> list[Line]:
    account = {"stdout": stdout, "stderr": stderr, "interrupted": False, "isImage": False}
    return call("Bash", {"command": command}, account, text=stdout, is_error=False, **more)


def bash_failed(command: str) -> list[Line]:
    return call(
        "Bash", {"command": command}, "Error: Exit code 1", text="Exit code 1", is_error=True
    )


def backups(**files: str | None) -> list[Line]:
    tracked = {path: {"backupFileName": name, "version": 1} for path, name in files.items()}
    return [{"type": "file-history-snapshot", "snapshot": {"trackedFileBackups": tracked}}]


def compacted() -> list[Line]:
    return [
        line("system", None, subtype="compact_boundary"),
        line("user", "This session is being continued …", isCompactSummary=True),
    ]


def text_of(*steps: list[Line]) -> str:
    return "\n".join(json.dumps(each) for step in steps for each in step) + "\n"


def said(text: str, **more: Any) -> list[Line]:
    """A prompt of the user's."""
    return [line("user", text, **more)]


def replied(text: str) -> list[Line]:
    return [line("assistant", [{"type": "text", "text": text}])]


def summarised(text: str) -> list[Line]:
    """A compaction with the summary that the host wrote."""
    return [
        line("system", None, subtype="compact_boundary"),
        line("user", f"This session is being continued …\n{text}", isCompactSummary=True),
    ]


def session_file(folder: Path, *steps: list[Line], name: str = "owner__repo__one.jsonl") -> str:
    file = folder / name
    file.write_text(text_of(*steps), encoding="utf-8")
    return str(file)
