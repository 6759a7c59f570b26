"""An independent checker of the file trail: which files a session created, changed, deleted, read.

It replays the raw transcript lines, shell commands by the grammar of tree-sitter-bash, and shares
no code with the fold that it checks.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from holdfast.eval.lines import read_main_lines
from tests.golden.file_trail import tools
from tests.golden.file_trail.calls import Call, Calls
from tests.golden.file_trail.flow import follow
from tests.golden.file_trail.paths import Names
from tests.golden.file_trail.world import World, is_file_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Trail:
    """The net state at the cut; paths are relative to where the session began, else absolute."""

    created: frozenset[str]
    modified: frozenset[str]
    deleted: frozenset[str]
    read: frozenset[str]
    unknown: frozenset[str]  # edits whose result the transcript does not hold


def trail(path: str, until_line: int | None = None) -> Trail:
    """Replays a Claude Code transcript (plain or gzip) up to and including `until_line`."""
    return next(iter(trails(path, [until_line]).values()))


def trails(path: str, until_lines: Iterable[int | None]) -> dict[int | None, Trail]:
    """The trail at each of these lines, in one reading."""
    lines = list(read_main_lines(path))
    cwds = (line["cwd"] for _, line in lines if isinstance(line.get("cwd"), str) and line["cwd"])
    names, world, calls = Names(next(cwds, "")), World(), Calls()
    waiting = sorted(set(until_lines), key=lambda until: (until is None, until or 0))
    found: dict[int | None, Trail] = {}
    for number, line in lines:
        while waiting and waiting[0] is not None and number > waiting[0]:
            found[waiting.pop(0)] = _trail(world, names, calls)
        if not waiting:
            break
        _advance(line, world, names, calls)
    return {**found, **{until: _trail(world, names, calls) for until in waiting}}


def _advance(line: dict[str, Any], world: World, names: Names, calls: Calls) -> None:
    cwd = line.get("cwd")
    if isinstance(cwd, str) and cwd:
        world.folders.add(names.key(cwd, ""))
    tools.learn_from_backups(line, world, names)
    for call in calls.finished_by(line):
        _apply(call, world, names)


def _apply(call: Call, world: World, names: Names) -> None:
    command = call.given.get("command")
    if call.tool != "Bash":
        tools.apply(call, world, names)
    elif call.ok and isinstance(command, str):
        with suppress(RecursionError):  # nested beyond reason: nothing can be said of it
            follow(command, call.cwd, _printed(call), world, names)


def _printed(call: Call) -> str:
    parts = (call.result.get("stdout"), call.result.get("stderr"), call.text)
    return "\n".join(part for part in parts if isinstance(part, str))


def _trail(world: World, names: Names, calls: Calls) -> Trail:
    def shown(keys: Iterable[str]) -> frozenset[str]:
        return frozenset(names.shown(key) for key in keys if is_file_name(key))

    unanswered = [
        names.key(tools.path_of(call), call.cwd)
        for call in calls.open.values()
        if call.tool in tools.EDITORS and tools.path_of(call)
    ]
    return Trail(
        created=shown(world.created()),
        modified=shown(world.modified()),
        deleted=shown(world.deleted()),
        read=shown(world.read),
        unknown=shown(unanswered),
    )
