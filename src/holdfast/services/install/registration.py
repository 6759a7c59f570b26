"""Register Holdfast's hooks in a host's settings file, and remove them without a trace."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any, Protocol

import holdfast
from holdfast.errors import UnusableSettingsFile
from holdfast.hosts import claude_code, hook_settings, statusline_settings
from holdfast.hosts.base import Host
from holdfast.hosts.json_edit import Splice
from holdfast.services.install import atomic_file, undo_record
from holdfast.services.install.client_version import parse_version
from holdfast.services.install.undo_record import UndoRecord, digest


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallOptions:
    """What is installed only on request; a later install keeps it."""

    statusline: bool = False
    guard_edits: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsChange:
    """What an install or uninstall changes in one file."""

    path: str
    before: str | None
    after: str | None
    host: str = claude_code.NAME
    events: tuple[str, ...] = ()
    note: str = ""
    clean: str | None = None
    """The file's text without Holdfast's entries; None if there is no file then."""
    splices: tuple[Splice, ...] = ()
    containers: tuple[str, ...] = ()
    """Which of the objects that hold the entries existed before the install."""
    folders: tuple[str, ...] = ()
    """Folders that the install creates, and that the uninstall removes with the file."""

    @property
    def is_needed(self) -> bool:
        return self.before != self.after


def hook_command(function: str = "hook", arguments: str = "") -> str:
    """Return the shell command that calls a function of `holdfast.entry`.

    This is the fastest safe form, see docs/why/hooks.md: `-I -S` skips `site` and every .pth
    file; with `-c` a missing package exits 1, while a missing script would exit 2, which blocks
    the host.
    """
    folder = os.path.dirname(os.path.dirname(os.path.abspath(holdfast.__file__)))
    # JSON's double quotes need no escaping inside the shell's single quotes.
    program = f"import sys; sys.path.append({json.dumps(folder)}); " + (
        f"from holdfast.entry import {function}; {function}({arguments})"
    )
    return f"{shlex.quote(sys.executable)} -I -S -c {shlex.quote(program)}"


def statusline_command() -> str:
    """Return the command for the status line. Its optional argument is a command to run as well."""
    return hook_command("status_line", "*sys.argv[1:2]")


def plan_install(
    path: str,
    version: str,
    home: str,
    requested: InstallOptions | None = None,
    host: Host = claude_code,
) -> SettingsChange:
    """Return what an install would change; writes nothing."""
    before = atomic_file.read(path)
    settings = hook_settings.parse_settings(before or "", path)
    present = hook_settings.find_our_entries(settings)
    options = _keep_options(requested or InstallOptions(), settings)
    wanted = build_hook_entries(version, options, host=host)
    plan = SettingsChange(
        path=path, before=before, after=before, events=tuple(wanted), host=host.NAME
    )
    if _is_installed(settings, present, wanted, options):
        return plan

    def add(text: str) -> tuple[str, list[Splice]]:
        after, splices = hook_settings.add_hooks(text, wanted, host.EMPTY_SETTINGS)
        if options.statusline:
            after, more = statusline_settings.add_status_line(after, statusline_command())
            splices += more
        return after, splices

    again = bool(present) or statusline_settings.has_our_status_line(settings)
    return add_entries(plan, home, hook_settings, add, again=again)


def _keep_options(requested: InstallOptions, settings: dict[str, Any]) -> InstallOptions:
    """Return the requested options together with those that are installed already."""
    statusline = requested.statusline or statusline_settings.has_our_status_line(settings)
    return InstallOptions(
        statusline=statusline and statusline_settings.can_chain(settings),
        guard_edits=requested.guard_edits
        or hook_settings.has_matcher(settings, claude_code.TOOL_EVENT, claude_code.EDITING_TOOLS),
    )


def build_hook_entries(
    version: str, options: InstallOptions, origin: str = "", host: Host = claude_code
) -> dict[str, list[dict[str, Any]]]:
    """Return the entries to register, by event."""
    values = [origin] if host is claude_code else [origin, host.NAME]
    arguments = ", ".join(map(json.dumps, values))
    command = hook_command("hook", arguments) if any(values) else hook_command()
    numbers = parse_version(version)
    entries = {event: [host.hook_entry(event, command)] for event in host.events_for(numbers)}
    if host is claude_code:
        tools = claude_code.tool_entries(command, numbers, edits=options.guard_edits)
        entries |= {claude_code.TOOL_EVENT: tools} if tools else {}
    return entries


def _is_installed(
    settings: dict[str, Any],
    present: dict[str, list[str]],
    wanted: dict[str, list[dict[str, Any]]],
    options: InstallOptions,
) -> bool:
    """Whether the file already has exactly these entries."""
    if present != {event: hook_settings.entry_commands(listed) for event, listed in wanted.items()}:
        return False
    if not options.statusline:
        return True
    command = statusline_settings.current_command(settings)
    chained = statusline_settings.chained_command(command)
    return command == statusline_settings.chain_command(statusline_command(), chained)


def install(change: SettingsChange, home: str) -> None:
    """Write the file, and store how to undo it exactly; raises UnusableSettingsFile."""
    if not change.is_needed or change.after is None:
        return
    _check_unchanged(change)
    previous = undo_record.load_record(home, change.path)
    undo_record.save_record(home, _build_record(change, change.after))
    try:
        atomic_file.write(change.path, change.after)
    except UnusableSettingsFile:
        atomic_file.remove_empty([*change.folders])
        if previous:
            undo_record.save_record(home, previous)
        else:
            undo_record.delete_record(home, change.path)
        raise


def _build_record(change: SettingsChange, after: str) -> UndoRecord:
    return UndoRecord(
        path=change.path,
        host=change.host,
        existed=change.clean is not None,
        before=digest(change.clean or ""),
        after=digest(after),
        splices=change.splices,
        containers=change.containers,
        folders=change.folders,
    )


class SettingsFormat(Protocol):
    """An editor for one kind of settings file: `hook_settings` or `mcp_settings`."""

    def parse_settings(self, text: str, path: str) -> dict[str, Any]: ...

    def existing_containers(self, settings: dict[str, Any]) -> list[str]: ...

    def find_our_entries(self, settings: dict[str, Any]) -> dict[str, Any]: ...

    def remove_our_entries(self, text: str, keep: Collection[str] = ()) -> str: ...


def add_entries(
    plan: SettingsChange,
    home: str,
    editor: SettingsFormat,
    add: Callable[[str], tuple[str, list[Splice]]],
    *,
    again: bool,
) -> SettingsChange:
    """Return the plan with the entries added, after those of an earlier install are removed."""
    clean, folders = plan.before, tuple(atomic_file.missing_folders(plan.path))
    if again:
        without = plan_uninstall(plan.path, home, editor)
        clean, folders = without.after, without.folders
    containers = editor.existing_containers(editor.parse_settings(clean or "", plan.path))
    after, splices = add(clean or "")
    editor.parse_settings(after, plan.path)
    return replace(
        plan,
        after=after,
        clean=clean,
        splices=tuple(splices),
        containers=tuple(containers),
        folders=folders,
    )


def plan_uninstall(path: str, home: str, editor: SettingsFormat = hook_settings) -> SettingsChange:
    """Return what an uninstall would change; writes nothing.

    If the file is as the install left it, the original comes back byte for byte; else only the
    Holdfast entries are removed.
    """
    before = atomic_file.read(path)
    if before is None:
        return SettingsChange(path=path, before=None, after=None)
    settings = editor.parse_settings(before, path)
    record = undo_record.load_record(home, path)
    after = editor.remove_our_entries(before, record.containers if record else ())
    if editor is hook_settings:
        after = statusline_settings.remove_status_line(after)
    plan = SettingsChange(
        path=path, before=before, after=after, events=tuple(editor.find_our_entries(settings)),
        note="only Holdfast's entries, because the file was changed since the install",
    )  # fmt: skip
    if record is None or not plan.is_needed:
        return plan
    is_unchanged = digest(before) == record.after
    if not record.existed and (is_unchanged or not editor.parse_settings(after, path)):
        note = "the install created this file, so it is deleted"
        return replace(plan, after=None, folders=record.folders, note=note)
    original = before
    for splice in reversed(record.splices):
        original = splice.undo(original)
    if is_unchanged and digest(original) == record.before:
        return replace(plan, after=original, note="as it was, byte for byte")
    return plan


def uninstall(change: SettingsChange, home: str) -> None:
    """Write or delete the file, and delete the undo record; raises UnusableSettingsFile."""
    if change.is_needed:
        _check_unchanged(change)
        if change.after is None:
            atomic_file.delete(change.path)
            atomic_file.remove_empty([*change.folders])
        else:
            atomic_file.write(change.path, change.after)
    undo_record.delete_record(home, change.path)


def _check_unchanged(change: SettingsChange) -> None:
    """Raise UnusableSettingsFile if the file changed since it was read: hosts write to it too."""
    if atomic_file.read(change.path) != change.before:
        raise UnusableSettingsFile(
            f"{change.path} was changed by another program just now", hint="run it again"
        )
