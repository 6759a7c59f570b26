"""Check where Claude Code's settings register Holdfast, and whether it can work there."""

from __future__ import annotations

import ast
import os
import shlex
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from holdfast.errors import HoldfastError
from holdfast.hosts import claude_code, hook_entries, hook_settings, statusline_settings
from holdfast.hosts.plugin import NAME as PLUGIN
from holdfast.hosts.plugin import PROGRAM
from holdfast.services.install import atomic_file, undo_record
from holdfast.services.install.client_version import parse_version

# What happened longer ago than this does not make an installation fail.
RECENT_SECONDS = 7 * 86400
REINSTALL_HINT = "run `holdfast install` again"
# Older clients run no hook of a settings file that names one event they do not know.
SKIPS_UNKNOWN_EVENTS_SINCE = (2, 1, 197)
EVENTS_OF_EVERY_VERSION = {
    *("PreToolUse", "PostToolUse", "Notification", "UserPromptSubmit", "SessionStart"),
    *("SessionEnd", "Stop", "SubagentStop", "PreCompact"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of one check, as `holdfast doctor` prints it."""

    name: str
    status: Literal["ok", "warn", "fail", "info"]
    detail: str
    hint: str = ""


def check_claude_hooks(
    environ: Mapping[str, str], folder: str, home: str, version: str
) -> Iterator[Finding]:
    """Check the user's settings, this folder's, and every other file that an install changed."""
    user = claude_code.settings_path(environ, None)
    here = [claude_code.settings_path(environ, folder, local) for local in (False, True)]
    paths: dict[str, str] = {}
    for path in (user, *here, *undo_record.list_installed_files(home, claude_code.NAME)):
        paths.setdefault(os.path.realpath(path), path)
    commands: set[str] = set()
    files: dict[str, dict[str, Any]] = {}
    for path in paths.values():
        try:
            settings = hook_settings.parse_settings(atomic_file.read(path) or "", path)
        except HoldfastError as problem:
            yield Finding(name="hooks", status="fail", detail=str(problem), hint=problem.hint)
            continue
        ours = hook_settings.find_our_entries(settings)
        files[path] = settings
        for listed in ours.values():
            commands.update(listed)
        if ours:
            yield from _check_file(path, settings, ours, parse_version(version))
        yield from _check_status_line(path, settings)
    if not commands and any(map(_has_plugin, files.values())):
        yield _check_plugin(environ)
    elif not commands:
        detail = "not installed for this user or folder"
        yield Finding(name="hooks", status="warn", detail=detail, hint="run `holdfast install`")
    if len(commands) > 1:
        detail = "different commands are registered, so a brief can arrive twice"
        yield Finding(
            name="hooks", status="warn", detail=detail, hint=f"{REINSTALL_HINT} for each file"
        )
    if commands:
        yield from _check_disabled([files[path] for path in (user, *here) if path in files])


def _check_plugin(environ: Mapping[str, str]) -> Finding:
    if shutil.which(PROGRAM, path=environ.get("PATH", "")):
        return Finding(name="hooks", status="ok", detail="by the plugin")
    detail = f"the plugin is enabled, but `{PROGRAM}` is not on the PATH of this shell"
    hint = "put its folder on the PATH, or run `holdfast install`"
    return Finding(name="hooks", status="warn", detail=detail, hint=hint)


def _has_plugin(settings: dict[str, Any]) -> bool:
    enabled = settings.get("enabledPlugins")
    names = enabled.items() if isinstance(enabled, dict) else ()
    return any(name.partition("@")[0] == PLUGIN and on is True for name, on in names)


def _check_file(
    path: str,
    settings: dict[str, Any],
    ours: dict[str, list[str]],
    version: tuple[int, ...] | None,
) -> Iterator[Finding]:
    """Yield the problems of this file, or one finding that it is in order."""
    problems = [*_find_problems(settings, ours, version)]
    for status, detail, hint in problems:
        yield Finding(name="hooks", status=status, detail=f"{path}: {detail}", hint=hint)
    if not problems:
        yield Finding(name="hooks", status="ok", detail=f"{path}: {len(ours)} events")


def _check_status_line(path: str, settings: dict[str, Any]) -> Iterator[Finding]:
    if statusline_settings.FIRST_EDITION_MARKER in statusline_settings.current_command(settings):
        detail = f"{path}: written by the first edition of Holdfast and shows nothing any more"
        yield Finding(name="status line", status="fail", detail=detail, hint=REINSTALL_HINT)


def _find_problems(
    settings: dict[str, Any], ours: dict[str, list[str]], version: tuple[int, ...] | None
) -> Iterator[tuple[Any, str, str]]:
    commands = [command for listed in ours.values() for command in listed]
    broken = dict.fromkeys(filter(None, map(find_command_problem, commands)))
    for why in broken:
        yield "fail", why, REINSTALL_HINT
    wanted = claude_code.events_for(version)
    if claude_code.tool_entries("", version, edits=False):
        wanted = [*wanted, claude_code.TOOL_EVENT]
    if missing := [event for event in wanted if event not in ours]:
        yield "warn", f"missing {', '.join(missing)} for this client", REINSTALL_HINT
    if double := hook_settings.repeated_events(settings):
        yield "warn", f"{', '.join(double)} registered more than once", REINSTALL_HINT
    if version is not None and version < SKIPS_UNKNOWN_EVENTS_SINCE:
        unknown = [event for event in settings["hooks"] if event not in EVENTS_OF_EVERY_VERSION]
        client = f"{claude_code.TITLE} {'.'.join(map(str, version))}"
        if known := ", ".join(event for event in unknown if event in ours):
            yield "fail", f"{client} runs no hook of this file, because of {known}", REINSTALL_HINT
        for event in unknown:
            if event not in ours:
                yield (
                    "warn",
                    f"if {client} does not know {event}, it runs no hook of this file",
                    f"upgrade the client, or move {event} to another settings file",
                )


def find_command_problem(command: str) -> str:
    """Return why this command cannot work any more, or "" if it can."""
    if hook_entries.FIRST_EDITION_MARKER in command:
        return "this hook was written by the first edition of Holdfast and does nothing any more"
    try:
        words = shlex.split(command)
    except ValueError:
        return "the command is not a shell command"
    if not words:
        return "the command is empty"
    if not os.access(words[0], os.X_OK):
        return f"the interpreter {words[0]} is gone"
    folder = _find_package_folder(words[-1])
    if folder and not os.path.isdir(os.path.join(folder, "holdfast")):
        return f"holdfast is no longer in {folder}"
    return ""


def _find_package_folder(program: str) -> str:
    """Return the folder that the program appends to `sys.path`, or an empty string."""
    try:
        calls = [node for node in ast.walk(ast.parse(program)) if isinstance(node, ast.Call)]
    except (SyntaxError, ValueError):
        return ""
    for call in calls:
        match ast.unparse(call.func), call.args:
            case "sys.path.append", [ast.Constant(value=str(folder))]:
                return folder
    return ""


def _check_disabled(settings: list[dict[str, Any]]) -> Iterator[Finding]:
    """Check `disableAllHooks`: of user, project and local settings, the last one that sets it
    counts.
    """
    values = [file["disableAllHooks"] for file in settings if "disableAllHooks" in file]
    if values and values[-1] is True:
        detail = '"disableAllHooks" is on, so no hook runs here'
        hint = "remove it from the settings, or set it to false"
        yield Finding(name="hooks", status="fail", detail=detail, hint=hint)
