"""Which files a session created, changed, deleted and read: the truth a file trail is held to.

Recomputed from the raw transcript lines alone (metric M3, artifact-trail exactness). Nothing
here is shared with the code that is graded by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from holdfast.eval.artifacts import tools
from holdfast.eval.artifacts.calls import Call, Calls
from holdfast.eval.artifacts.flow import follow
from holdfast.eval.artifacts.lines import numbered
from holdfast.eval.artifacts.paths import Names
from holdfast.eval.artifacts.world import World, is_file_name

SETS = ("created", "modified", "deleted", "read")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trail:
    """The net state at the cut; paths are relative to where the session began, else absolute."""

    created: frozenset[str]
    modified: frozenset[str]
    deleted: frozenset[str]
    read: frozenset[str]
    unknown: frozenset[str]  # edits whose result the transcript does not hold


@dataclass(frozen=True, slots=True, kw_only=True)
class SetComparison:
    """How one set of the other side compares with the truth."""

    precision: float
    recall: float
    missing: frozenset[str]
    extra: frozenset[str]

    @property
    def equal(self) -> bool:
        return not self.missing and not self.extra


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    sets: Mapping[str, SetComparison]

    @property
    def equal(self) -> bool:
        return all(each.equal for each in self.sets.values())


def trail(path: str, until_line: int | None = None) -> Trail:
    """Replays a Claude Code transcript (plain or gzip) up to and including `until_line`."""
    return next(iter(trails(path, [until_line]).values()))


def trails(path: str, until_lines: Iterable[int | None]) -> dict[int | None, Trail]:
    """The trail at each of these lines, in one reading."""
    lines = list(numbered(path))
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


def compare(ours: Trail, other: dict[str, set[str]]) -> Comparison:
    """Holds another trail to ours; `unknown` is compared only if the other side has it."""
    names = (*SETS, "unknown") if "unknown" in other else SETS
    return Comparison(
        sets={name: _compared(getattr(ours, name), other.get(name, set())) for name in names}
    )


def _compared(truth: Iterable[str], claimed: Iterable[str]) -> SetComparison:
    true, said = ({path.replace("\\", "/") for path in paths} for paths in (truth, claimed))
    both = len(true & said)
    return SetComparison(
        precision=both / len(said) if said else 1.0,
        recall=both / len(true) if true else 1.0,
        missing=frozenset(true - said),
        extra=frozenset(said - true),
    )
