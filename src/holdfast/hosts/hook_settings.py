"""Adds our hooks to a settings file in Claude Code's format, and removes them.

Works on text only. `services/install` reads and writes the files and records how to undo it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from typing import Any

from holdfast.errors import UnusableSettingsFile
from holdfast.hosts.hook_entries import command_of, hooks_in, runs_our_command
from holdfast.hosts.hook_entries import find_our_entries as find_our_entries
from holdfast.hosts.json_edit import Layout, Span, Splice, child_spans, find_member, insert, remove

BLANK = "\ufeff \t\r\n"
REPAIR_HINT = "repair the file by hand (`python -m json.tool FILE` shows the place), then try again"
COMMENTS_HINT = "JSON has no comments: take them out of the file, then try again"


def parse_settings(text: str, path: str) -> dict[str, Any]:
    """Parse a settings file; raises UnusableSettingsFile with what is wrong in it."""
    try:
        settings = json.loads(text.lstrip("\ufeff")) if text.strip(BLANK) else {}
    except ValueError as problem:
        hint = COMMENTS_HINT if re.search(r"^\s*//|/\*", text, re.M) else REPAIR_HINT
        raise UnusableSettingsFile(f"{path} is not JSON ({problem})", hint=hint) from None
    except RecursionError:
        raise UnusableSettingsFile(f"{path} is nested too deeply", hint=REPAIR_HINT) from None
    if not isinstance(settings, dict):
        raise UnusableSettingsFile(f"{path} does not hold a JSON object", hint=REPAIR_HINT)
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict) or not all(isinstance(v, list) for v in hooks.values()):
        raise UnusableSettingsFile(f'{path}: "hooks" is not an object of lists', hint=REPAIR_HINT)
    return settings


def repeated_events(settings: dict[str, Any]) -> list[str]:
    """Return the events at which a hook of ours would run more than once."""
    registered = [
        (event, entry.get("matcher") if isinstance(entry, dict) else None)
        for event, entries in settings.get("hooks", {}).items()
        for entry in entries
        for hook in hooks_in(entry)
        if runs_our_command(hook)
    ]
    repeated = [event for event, matcher in registered if registered.count((event, matcher)) > 1]
    return [*dict.fromkeys(repeated)]


def existing_containers(settings: dict[str, Any]) -> list[str]:
    """Return "hooks" and its event names, as far as they exist: an uninstall must keep these."""
    return ["hooks", *settings["hooks"]] if "hooks" in settings else []


def entry_commands(entries: Sequence[dict[str, Any]]) -> list[str]:
    """Return the command of each of our own entries."""
    return [command_of(hooks_in(entry)[0]) for entry in entries]


def has_matcher(settings: dict[str, Any], event: str, matcher: str) -> bool:
    """Return whether an entry of ours with this matcher is registered for the event."""
    return any(
        isinstance(entry, dict)
        and entry.get("matcher") == matcher
        and any(map(runs_our_command, hooks_in(entry)))
        for entry in settings.get("hooks", {}).get(event, ())
    )


def add_hooks(
    text: str, entries: dict[str, list[dict[str, Any]]], empty_settings: str = "{}\n"
) -> tuple[str, list[Splice]]:
    """Return the text with our entries added, and the splices that were applied in this order.

    `empty_settings` is the content that a new file starts from.
    """
    splices: list[Splice] = []

    def apply(splice: Splice) -> None:
        nonlocal text
        text = splice.apply(text)
        splices.append(splice)

    if not text.strip(BLANK):
        apply(Splice(0, text, empty_settings))
    layout = Layout.of(text)
    top = text.index("{")
    if find_member(text, top, "hooks") is None:
        apply(insert(text, top, "hooks", entries, 1, layout))
        return text, splices
    for event, values in entries.items():
        hooks = _value_position(text, top, "hooks")
        if find_member(text, hooks, event) is None:
            apply(insert(text, hooks, event, values, 2, layout))
            continue
        for value in values:
            hooks = _value_position(text, top, "hooks")
            apply(insert(text, _value_position(text, hooks, event), "", value, 3, layout))
    return text, splices


def _value_position(text: str, start: int, key: str) -> int:
    """Return where the value of this key begins; the key must exist."""
    member = find_member(text, start, key)
    assert member is not None
    return member.value


def remove_our_entries(text: str, keep: Collection[str] = ()) -> str:
    """Return the text without our entries, also if other programs changed it since.

    Containers that become empty are removed too, except those named in `keep`, which were there
    before the install (see `existing_containers`).
    """
    while splice := _next_removal(text, keep):
        text = splice.apply(text)
    return text


def _next_removal(text: str, keep: Collection[str]) -> Splice | None:
    """Return the splice that removes the first hook of ours with the containers it leaves empty."""
    top = text.find("{")
    members = child_spans(text, top)[0] if top >= 0 else []
    place = max((n for n, span in enumerate(members) if span.key == "hooks"), default=-1)
    if place < 0:
        return None
    hooks = members[place].value
    events, _ = child_spans(text, hooks)
    for number, event in enumerate(events):
        # `parse_settings` saw lists only. If a key is repeated, it saw the last value; an earlier
        # one may be something else.
        entries = child_spans(text, event.value)[0] if text[event.value] == "[" else []
        for position, entry in enumerate(entries):
            value = json.loads(text[entry.value : entry.end])
            ours = [i for i, hook in enumerate(hooks_in(value)) if runs_our_command(hook)]
            if not ours:
                continue
            if len(ours) < len(hooks_in(value)):
                return remove(text, _value_position(text, entry.value, "hooks"), ours[0])
            if len(entries) > 1 or _must_stay(events, number, keep):
                return remove(text, event.value, position)
            if len(events) > 1 or _must_stay(members, place, keep):
                return remove(text, hooks, number)
            return remove(text, top, place)
    return None


def _must_stay(members: Sequence[Span], number: int, keep: Collection[str]) -> bool:
    """Return whether a container stays even when empty.

    A repeated key stays too: without it, the value of its other occurrence would take effect.
    """
    key = members[number].key
    return key in keep or sum(span.key == key for span in members) > 1
