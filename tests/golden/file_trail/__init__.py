"""An independent checker of the file trail: which files a session created, changed, deleted, read.

It replays the raw lines of a transcript and parses shell commands with tree-sitter-bash. It shares
no code with the fold that it checks.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from holdfast.eval.lines import read_main_lines
from tests.golden.file_trail import tools
from tests.golden.file_trail.calls import Call, CallTracker
from tests.golden.file_trail.disk import Disk, is_file_name
from tests.golden.file_trail.flow import replay_command
from tests.golden.file_trail.paths import PathKeys


@dataclass(frozen=True, slots=True, kw_only=True)
class Trail:
    """The files at one line; paths inside the session's first folder are relative to it."""

    created: frozenset[str]
    modified: frozenset[str]
    deleted: frozenset[str]
    read: frozenset[str]
    unknown: frozenset[str]  # edits whose result is not in the transcript


def read_trail(path: str, until_line: int | None = None) -> Trail:
    """Replay a Claude Code transcript (plain or gzip) up to and including `until_line`."""
    return next(iter(read_trails(path, [until_line]).values()))


def read_trails(path: str, until_lines: Iterable[int | None]) -> dict[int | None, Trail]:
    """Return the trail at each of these lines, and read the transcript only once."""
    lines = list(read_main_lines(path))
    cwds = (line["cwd"] for _, line in lines if isinstance(line.get("cwd"), str) and line["cwd"])
    path_keys, disk, calls = PathKeys(next(cwds, "")), Disk(), CallTracker()
    pending = sorted(set(until_lines), key=lambda until: (until is None, until or 0))
    trails: dict[int | None, Trail] = {}
    for number, line in lines:
        while pending and pending[0] is not None and number > pending[0]:
            trails[pending.pop(0)] = _trail(disk, path_keys, calls)
        if not pending:
            break
        _advance(line, disk, path_keys, calls)
    return {**trails, **{until: _trail(disk, path_keys, calls) for until in pending}}


def _advance(line: dict[str, Any], disk: Disk, path_keys: PathKeys, calls: CallTracker) -> None:
    cwd = line.get("cwd")
    if isinstance(cwd, str) and cwd:
        disk.folders.add(path_keys.key(cwd, ""))
    tools.learn_from_backups(line, disk, path_keys)
    for call in calls.finished_by(line):
        _apply(call, disk, path_keys)


def _apply(call: Call, disk: Disk, path_keys: PathKeys) -> None:
    command = call.tool_input.get("command")
    if call.tool != "Bash":
        tools.apply(call, disk, path_keys)
    elif call.ok and isinstance(command, str):
        with suppress(RecursionError):  # nested too deeply for this checker
            replay_command(command, call.cwd, _output(call), disk, path_keys)


def _output(call: Call) -> str:
    parts = (call.result.get("stdout"), call.result.get("stderr"), call.text)
    return "\n".join(part for part in parts if isinstance(part, str))


def _trail(disk: Disk, path_keys: PathKeys, calls: CallTracker) -> Trail:
    def display_all(keys: Iterable[str]) -> frozenset[str]:
        return frozenset(path_keys.display(key) for key in keys if is_file_name(key))

    without_result = [
        path_keys.key(tools.find_path(call), call.cwd)
        for call in calls.pending.values()
        if call.tool in tools.EDITORS and tools.find_path(call)
    ]
    return Trail(
        created=display_all(disk.created()),
        modified=display_all(disk.modified()),
        deleted=display_all(disk.deleted()),
        read=display_all(disk.read),
        unknown=display_all(without_result),
    )
