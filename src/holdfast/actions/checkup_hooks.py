"""Where our hooks are registered, and whether they can work there."""

from __future__ import annotations

import ast
import os
import shlex
import shutil
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.actions import install_record, settings_file
from holdfast.actions.client import numbers
from holdfast.actions.finding import Finding
from holdfast.errors import HoldfastError
from holdfast.hosts import claude_code, hook_settings
from holdfast.hosts.plugin import NAME as PLUGIN
from holdfast.hosts.plugin import PROGRAM

AGAIN = "run `holdfast install` again"
# Clients before this one drop every hook of a file that names one event they do not know.
FORGIVES_SINCE = (2, 1, 197)
KNOWN_TO_ALL = {
    *("PreToolUse", "PostToolUse", "Notification", "UserPromptSubmit", "SessionStart"),
    *("SessionEnd", "Stop", "SubagentStop", "PreCompact"),
}


def hooks(environ: Mapping[str, str], folder: str, home: str, version: str) -> Iterator[Finding]:
    """The user's settings, this folder's, and every other file that an install has changed."""
    user = claude_code.settings_path(environ, None)
    here = [claude_code.settings_path(environ, folder, local) for local in (False, True)]
    paths: dict[str, str] = {}
    for path in (user, *here, *install_record.paths(home, claude_code.NAME)):
        paths.setdefault(os.path.realpath(path), path)
    commands: set[str] = set()
    files: dict[str, dict[str, Any]] = {}
    for path in paths.values():
        try:
            settings = hook_settings.parse(settings_file.read(path) or "", path)
        except HoldfastError as problem:
            yield Finding(name="hooks", status="fail", detail=str(problem), hint=problem.hint)
            continue
        ours = hook_settings.registered(settings)
        files[path] = settings
        for listed in ours.values():
            commands.update(listed)
        if ours:
            yield from _in_file(path, settings, ours, numbers(version))
    if not commands and any(_has_plugin(one) for one in files.values()):
        yield _by_plugin(environ)
    elif not commands:
        detail = "not installed for this user or folder"
        yield Finding(name="hooks", status="warn", detail=detail, hint="run `holdfast install`")
    if len(commands) > 1:
        detail = "different commands are registered, so that a brief can arrive twice"
        yield Finding(name="hooks", status="warn", detail=detail, hint=f"{AGAIN} for each file")
    if commands:
        yield from _switched_off([files[path] for path in (user, *here) if path in files])


def _by_plugin(environ: Mapping[str, str]) -> Finding:
    if shutil.which(PROGRAM, path=environ.get("PATH", "")):
        return Finding(name="hooks", status="ok", detail="by the plugin")
    detail = f"the plugin is enabled, but `{PROGRAM}` is not on this PATH, where it is looked for"
    hint = "put its folder on the PATH, or run `holdfast install`"
    return Finding(name="hooks", status="warn", detail=detail, hint=hint)


def _has_plugin(settings: dict[str, Any]) -> bool:
    enabled = settings.get("enabledPlugins")
    names = enabled.items() if isinstance(enabled, dict) else ()
    return any(name.partition("@")[0] == PLUGIN and on is True for name, on in names)


def _in_file(
    path: str,
    settings: dict[str, Any],
    ours: dict[str, list[str]],
    version: tuple[int, ...] | None,
) -> Iterator[Finding]:
    """What is wrong in this file; if nothing is, that all is well."""
    found = [*_problems(settings, ours, version)]
    for status, detail, hint in found:
        yield Finding(name="hooks", status=status, detail=f"{path}: {detail}", hint=hint)
    if not found:
        yield Finding(name="hooks", status="ok", detail=f"{path}: {len(ours)} events")


def _problems(
    settings: dict[str, Any], ours: dict[str, list[str]], version: tuple[int, ...] | None
) -> Iterator[tuple[Any, str, str]]:
    broken = dict.fromkeys(why for cs in ours.values() for c in cs if (why := broken_because(c)))
    for why in broken:
        yield "fail", why, AGAIN
    wanted = claude_code.events_for(version)
    if claude_code.tool_entries("", version, edits=False):
        wanted = [*wanted, claude_code.AFTER_TOOL]
    if missing := [event for event in wanted if event not in ours]:
        yield "warn", f"missing {', '.join(missing)} for this client", AGAIN
    if double := hook_settings.repeated(settings):
        yield "warn", f"{', '.join(double)} registered more than once", AGAIN
    if version is not None and version < FORGIVES_SINCE:
        strange = [event for event in settings["hooks"] if event not in KNOWN_TO_ALL]
        client = f"{claude_code.TITLE} {'.'.join(map(str, version))}"
        if known := ", ".join(event for event in strange if event in ours):
            yield "fail", f"{client} runs no hook of this file, because of {known}", AGAIN
        for event in strange:
            if event not in ours:
                yield (
                    "warn",
                    f"if {client} does not know {event}, it runs no hook of this file",
                    f"upgrade the client, or move {event} to another settings file",
                )


def broken_because(command: str) -> str:
    """Why this command cannot work any more; empty if it can."""
    try:
        words = shlex.split(command)
    except ValueError:
        return "the command is not a shell command"
    if not words:
        return "the command is empty"
    if not os.access(words[0], os.X_OK):
        return f"the interpreter {words[0]} is gone"
    folder = _package_folder(words[-1])
    if folder and not os.path.isdir(os.path.join(folder, "holdfast")):
        return f"holdfast is no longer in {folder}"
    return ""


def _package_folder(program: str) -> str:
    """What the program appends to the module path."""
    try:
        calls = [node for node in ast.walk(ast.parse(program)) if isinstance(node, ast.Call)]
    except (SyntaxError, ValueError):
        return ""
    for call in calls:
        match ast.unparse(call.func), call.args:
            case "sys.path.append", [ast.Constant(value=str(folder))]:
                return folder
    return ""


def _switched_off(settings: list[dict[str, Any]]) -> Iterator[Finding]:
    """Of the user's, the project's and the local settings, the last that says something counts."""
    said = [one["disableAllHooks"] for one in settings if "disableAllHooks" in one]
    if said and said[-1] is True:
        detail = '"disableAllHooks" is on, so that no hook runs here'
        hint = "take it out of the settings, or set it to false"
        yield Finding(name="hooks", status="fail", detail=detail, hint=hint)
