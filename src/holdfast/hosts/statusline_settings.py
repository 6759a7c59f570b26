"""Put our status line into a settings file of Claude Code's, around the one that is there.

Works on text only, as `hook_settings`. What was there before stands as the last word of our
command, so that it can be put back even when nobody remembers it.
"""

from __future__ import annotations

import json
import shlex
from typing import Any

from holdfast.hosts.json_text import Layout, Splice, insert, member, remove, spans

OURS = "holdfast.surfaces.statusline"
KEY = "statusLine"


def command_in(settings: dict[str, Any]) -> str:
    """The command of the status line, whoever's it is; empty if there is none."""
    told = settings.get(KEY)
    command = told.get("command") if isinstance(told, dict) else None
    return command if isinstance(command, str) else ""


def is_ours(settings: dict[str, Any]) -> bool:
    return OURS in command_in(settings)


def can_wrap(settings: dict[str, Any]) -> bool:
    """Whether there is none, or one that is a command."""
    return KEY not in settings or bool(command_in(settings))


def wrapping(command: str, theirs: str) -> str:
    """Our command with theirs behind it."""
    return f"{command} {shlex.quote(theirs)}" if theirs else command


def wrapped_in(command: str) -> str:
    """Theirs, out of a command that `wrapping` made."""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    place = next((n for n, word in enumerate(words) if OURS in word), len(words))
    return words[place + 1] if len(words) > place + 1 else ""


def add(text: str, command: str) -> tuple[str, list[Splice]]:
    """The text with our status line, and the splice that leads there."""
    top = text.index("{")
    found = member(text, top, KEY)
    if found is None:
        value = {"type": "command", "command": command}
        splice = insert(text, top, KEY, value, 1, Layout.of(text))
    else:
        inner = member(text, found.value, "command")
        assert inner is not None, "see can_wrap"
        theirs = json.loads(text[inner.value : inner.end])
        new = json.dumps(wrapping(command, theirs), ensure_ascii=False)
        splice = Splice(inner.value, text[inner.value : inner.end], new)
    return splice.apply(text), [splice]


def take_out(text: str) -> str:
    """The text with what was there before us, or without a status line."""
    top = text.find("{")
    found = member(text, top, KEY) if top >= 0 else None
    if found is None or text[found.value] != "{":
        return text
    inner = member(text, found.value, "command")
    command = json.loads(text[inner.value : inner.end]) if inner else ""
    if inner is None or not isinstance(command, str) or OURS not in command:
        return text
    if theirs := wrapped_in(command):
        new = json.dumps(theirs, ensure_ascii=False)
        return Splice(inner.value, text[inner.value : inner.end], new).apply(text)
    members, _ = spans(text, top)
    number = max(n for n, span in enumerate(members) if span.key == KEY)
    return remove(text, top, number).apply(text)
