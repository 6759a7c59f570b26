"""Register our hooks with a host, and take them out again without a trace."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any, Protocol

import holdfast
from holdfast.actions import install_record, settings_file
from holdfast.actions.client import numbers
from holdfast.actions.install_record import Record, digest
from holdfast.errors import SettingsFileUnusable
from holdfast.hosts import claude_code, hook_settings, statusline_settings
from holdfast.hosts.base import Host
from holdfast.hosts.json_text import Splice


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What is installed only if asked for; once there, another install keeps it."""

    statusline: bool = False
    guard_edits: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What an install or uninstall does to one file."""

    path: str
    before: str | None
    after: str | None
    host: str = claude_code.NAME
    events: tuple[str, ...] = ()
    note: str = ""
    clean: str | None = None
    """What the file is, or was, without us."""
    splices: tuple[Splice, ...] = ()
    containers: tuple[str, ...] = ()
    """What of the places for our entries was there before."""
    folders: tuple[str, ...] = ()
    """Folders that the install makes, and that the uninstall of its file takes away."""

    @property
    def is_needed(self) -> bool:
        return self.before != self.after


def hook_command(surface: str = "hook", arguments: str = "") -> str:
    """The fastest form that is safe: see docs/why/hooks.md.

    `-I -S` skips site and every .pth file; `-c` makes a vanished package exit 1, where a missing
    script would exit 2 and block the host.
    """
    folder = os.path.dirname(os.path.dirname(os.path.abspath(holdfast.__file__)))
    # Double quotes, as JSON has them, need no escaping inside the shell's single ones.
    program = f"import sys; sys.path.append({json.dumps(folder)}); " + (
        f"from holdfast.surfaces.{surface} import main; main({arguments})"
    )
    return f"{shlex.quote(sys.executable)} -I -S -c {shlex.quote(program)}"


def statusline_command() -> str:
    """The same for the status line; the word after it is the one that it wraps."""
    return hook_command("statusline", "*sys.argv[1:2]")


def plan_install(
    path: str, version: str, home: str, asked: Options | None = None, host: Host = claude_code
) -> Change:
    """What installing would do; nothing is written."""
    before = settings_file.read(path)
    settings = hook_settings.parse(before or "", path)
    present = hook_settings.registered(settings)
    options = _kept(asked or Options(), settings)
    wanted = entries(version, options, host=host)
    plan = Change(path=path, before=before, after=before, events=tuple(wanted), host=host.NAME)
    if _is_done(settings, present, wanted, options):
        return plan

    def added(text: str) -> tuple[str, list[Splice]]:
        after, splices = hook_settings.add(text, wanted, host.EMPTY)
        if options.statusline:
            after, more = statusline_settings.add(after, statusline_command())
            splices += more
        return after, splices

    again = bool(present) or statusline_settings.is_ours(settings)
    return with_entries(plan, home, hook_settings, added, again=again)


def _kept(asked: Options, settings: dict[str, Any]) -> Options:
    statusline = asked.statusline or statusline_settings.is_ours(settings)
    return Options(
        statusline=statusline and statusline_settings.can_wrap(settings),
        guard_edits=asked.guard_edits
        or hook_settings.has_matcher(settings, claude_code.AFTER_TOOL, claude_code.EDITING_TOOLS),
    )


def entries(
    version: str, options: Options, origin: str = "", host: Host = claude_code
) -> dict[str, list[dict[str, Any]]]:
    """What is registered for each event."""
    told = [origin] if host is claude_code else [origin, host.NAME]
    said = ", ".join(map(json.dumps, told))
    command = hook_command("hook", said) if any(told) else hook_command()
    known = numbers(version)
    entries = {event: [host.entry(event, command)] for event in host.events_for(known)}
    if host is claude_code:
        tools = claude_code.tool_entries(command, known, edits=options.guard_edits)
        entries |= {claude_code.AFTER_TOOL: tools} if tools else {}
    return entries


def _is_done(
    settings: dict[str, Any],
    present: dict[str, list[str]],
    wanted: dict[str, list[dict[str, Any]]],
    options: Options,
) -> bool:
    if present != {event: hook_settings.commands_in(listed) for event, listed in wanted.items()}:
        return False
    if not options.statusline:
        return True
    command = statusline_settings.command_in(settings)
    theirs = statusline_settings.wrapped_in(command)
    return command == statusline_settings.wrapping(statusline_command(), theirs)


def install(change: Change, home: str) -> None:
    """Write the file, and remember how to undo it exactly."""
    if not change.is_needed or change.after is None:
        return
    _check_unchanged(change)
    earlier = install_record.known(home, change.path)
    install_record.remember(home, _record(change, change.after))
    try:
        settings_file.write(change.path, change.after)
    except SettingsFileUnusable:
        settings_file.remove_empty([*change.folders])
        if earlier:
            install_record.remember(home, earlier)
        else:
            install_record.forget(home, change.path)
        raise


def _record(change: Change, after: str) -> Record:
    return Record(
        path=change.path,
        host=change.host,
        existed=change.clean is not None,
        before=digest(change.clean or ""),
        after=digest(after),
        splices=change.splices,
        containers=change.containers,
        folders=change.folders,
    )


class Shape(Protocol):
    """How our entries stand in a kind of file: `hook_settings`, `mcp_settings`."""

    def parse(self, text: str, path: str) -> dict[str, Any]: ...

    def containers(self, settings: dict[str, Any]) -> list[str]: ...

    def registered(self, settings: dict[str, Any]) -> dict[str, Any]: ...

    def take_out(self, text: str, keep: Collection[str] = ()) -> str: ...


def with_entries(
    plan: Change,
    home: str,
    shape: Shape,
    added: Callable[[str], tuple[str, list[Splice]]],
    *,
    again: bool,
) -> Change:
    """The plan with our entries in it; those of an earlier install go first, never doubled."""
    clean, folders = plan.before, tuple(settings_file.missing_folders(plan.path))
    if again:
        without = plan_uninstall(plan.path, home, shape)
        clean, folders = without.after, without.folders
    containers = shape.containers(shape.parse(clean or "", plan.path))
    after, splices = added(clean or "")
    shape.parse(after, plan.path)
    return replace(
        plan,
        after=after,
        clean=clean,
        splices=tuple(splices),
        containers=tuple(containers),
        folders=folders,
    )


def plan_uninstall(path: str, home: str, shape: Shape = hook_settings) -> Change:
    """What uninstalling would do: exact if nobody changed the file since, else entry by entry."""
    before = settings_file.read(path)
    if before is None:
        return Change(path=path, before=None, after=None)
    settings = shape.parse(before, path)
    known = install_record.known(home, path)
    after = shape.take_out(before, known.containers if known else ())
    if shape is hook_settings:
        after = statusline_settings.take_out(after)
    plan = Change(
        path=path, before=before, after=after, events=tuple(shape.registered(settings)),
        note="only our entries go: it is not as the install left it",
    )  # fmt: skip
    if known is None or not plan.is_needed:
        return plan
    unchanged = digest(before) == known.after
    if not known.existed and (unchanged or not shape.parse(after, path)):
        note = "the install made this file, so it goes"
        return replace(plan, after=None, folders=known.folders, note=note)
    original = before
    for splice in reversed(known.splices):
        original = splice.undo(original)
    if unchanged and digest(original) == known.before:
        return replace(plan, after=original, note="as it was, byte for byte")
    return plan


def uninstall(change: Change, home: str) -> None:
    """Write or delete the file, and forget that we were there."""
    if change.is_needed:
        _check_unchanged(change)
        if change.after is None:
            settings_file.delete(change.path)
            settings_file.remove_empty([*change.folders])
        else:
            settings_file.write(change.path, change.after)
    install_record.forget(home, change.path)


def _check_unchanged(change: Change) -> None:
    """The host writes to this file too."""
    if settings_file.read(change.path) != change.before:
        raise SettingsFileUnusable(
            f"{change.path} was changed by another program just now", hint="run it again"
        )
