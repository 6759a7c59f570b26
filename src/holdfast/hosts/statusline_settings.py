"""Adds our status line to Claude Code's settings, and removes it.

Works on text only, like `hook_settings`. A status line that was there before becomes the last
argument of our command: we run it and show its output first. So it can be put back even without
the installer's record.
"""

from __future__ import annotations

import json
import shlex
from typing import Any

from holdfast.hosts.json_edit import Layout, Splice, child_spans, find_member, insert, remove

# Every status line command of ours contains one of these. The second is that of the first edition,
# whose module is gone: `doctor` reports such a status line, install replaces it.
FIRST_EDITION_MARKER = "holdfast.surfaces.statusline"
MARKERS = ("holdfast.entry import status_line", FIRST_EDITION_MARKER)
KEY = "statusLine"


def current_command(settings: dict[str, Any]) -> str:
    """Return the command of the status line, ours or another, or ""."""
    entry = settings.get(KEY)
    command = entry.get("command") if isinstance(entry, dict) else None
    return command if isinstance(command, str) else ""


def has_our_status_line(settings: dict[str, Any]) -> bool:
    """Return whether the settings have our status line."""
    return runs_our_command(current_command(settings))


def runs_our_command(text: str) -> bool:
    """Return whether this command, or a text that contains it, runs our status line."""
    return any(marker in text for marker in MARKERS)


def can_chain(settings: dict[str, Any]) -> bool:
    """Return whether there is no status line, or one that is a command."""
    return KEY not in settings or bool(current_command(settings))


def chain_command(command: str, other: str) -> str:
    """Return our command with the other command as its last argument."""
    return f"{command} {shlex.quote(other)}" if other else command


def chained_command(command: str) -> str:
    """Return the other command from a command that `chain_command` made, or ""."""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    place = next((n for n, word in enumerate(words) if runs_our_command(word)), len(words))
    return words[place + 1] if len(words) > place + 1 else ""


def add_status_line(text: str, command: str) -> tuple[str, list[Splice]]:
    """Return the text with our status line, and the splice that was applied."""
    top = text.index("{")
    entry_member = find_member(text, top, KEY)
    if entry_member is None:
        value = {"type": "command", "command": command}
        splice = insert(text, top, KEY, value, 1, Layout.of(text))
    else:
        command_member = find_member(text, entry_member.value, "command")
        assert command_member is not None, "call can_chain first"
        other = json.loads(text[command_member.value : command_member.end])
        new = json.dumps(chain_command(command, other), ensure_ascii=False)
        splice = Splice(command_member.value, text[command_member.value : command_member.end], new)
    return splice.apply(text), [splice]


def remove_status_line(text: str) -> str:
    """Return the text with the earlier status line put back, or without one if there was none."""
    top = text.find("{")
    entry_member = find_member(text, top, KEY) if top >= 0 else None
    if entry_member is None or text[entry_member.value] != "{":
        return text
    command_member = find_member(text, entry_member.value, "command")
    command = json.loads(text[command_member.value : command_member.end]) if command_member else ""
    if command_member is None or not isinstance(command, str) or not runs_our_command(command):
        return text
    if other := chained_command(command):
        new = json.dumps(other, ensure_ascii=False)
        return Splice(
            command_member.value, text[command_member.value : command_member.end], new
        ).apply(text)
    members, _ = child_spans(text, top)
    number = max(n for n, span in enumerate(members) if span.key == KEY)
    return remove(text, top, number).apply(text)
