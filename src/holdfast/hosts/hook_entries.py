"""Recognise hooks of Holdfast among the entries of a settings file in Claude Code's format.

Hooks import this module, so it imports little itself.
"""

from __future__ import annotations

import os
import sys

from holdfast import fast_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Every hook command of ours contains one of these. The second is that of the first edition, whose
# module is gone: `doctor` reports such a hook, install and uninstall remove it.
FIRST_EDITION_MARKER = "holdfast.surfaces.hook"
HOOK_MARKERS = ("holdfast.entry import hook", FIRST_EDITION_MARKER)
MAX_SETTINGS_BYTES = 4 << 20
# Set in hook processes: a cloned repository may have entries that only look like ours, and must not
# keep the hook of a plugin from doing its work. Commands also find hooks of other installations.
only_this_installation = False
# The folder that contains this package, which install writes into each command.
PACKAGE_FOLDER = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def registers_our_hooks(path: str) -> bool:
    """Return whether a settings file has a hook entry of ours; False if it cannot be parsed."""
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            commands = find_our_entries(fast_json.loads(file.read(MAX_SETTINGS_BYTES)))
    except (OSError, ValueError, RecursionError):
        return False
    found = [command for of_event in commands.values() for command in of_event]
    return any(map(is_this_installation, found)) if only_this_installation else bool(found)


def is_this_installation(command: str) -> bool:
    """Return whether a command begins with this interpreter and imports this package."""
    begins = command.startswith((f"{sys.executable} ", f"'{sys.executable}' "))
    return begins and PACKAGE_FOLDER in command


def find_our_entries(settings: Any) -> dict[str, list[str]]:
    """Return our commands by event; empty for a value that is not in the format."""
    hooks = settings.get("hooks") if isinstance(settings, dict) else None
    commands: dict[str, list[str]] = {}
    for event, entries in hooks.items() if isinstance(hooks, dict) else ():
        for entry in entries if isinstance(entries, list) else ():
            for hook in hooks_in(entry):
                if runs_our_command(hook):
                    commands.setdefault(event, []).append(command_of(hook))
    return commands


def hooks_in(entry: Any) -> list[Any]:
    """Return the hooks of an entry: a group of hooks, or, with some hosts, one hook by itself."""
    hooks = entry.get("hooks") if isinstance(entry, dict) else None
    if isinstance(hooks, list):
        return hooks
    return [entry] if command_of(entry) else []


def command_of(hook: Any) -> str:
    """Return the shell command of a hook, or an empty string."""
    command = (hook.get("command") or hook.get("bash")) if isinstance(hook, dict) else None
    return command if isinstance(command, str) else ""


def runs_our_command(hook: Any) -> bool:
    """Return whether this hook runs a command of ours."""
    return is_our_hook(command_of(hook))


def is_our_hook(command: str) -> bool:
    """Return whether this command runs a hook of ours."""
    return any(marker in command for marker in HOOK_MARKERS)
