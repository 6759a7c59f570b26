"""Register and remove our hooks in a settings file of Claude Code's shape.

Works on text only; reading, writing and remembering are the installer's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from typing import Any

from holdfast.errors import SettingsFileUnusable
from holdfast.hosts.claude_code import OURS
from holdfast.hosts.json_text import Layout, Span, Splice, insert, member, remove, spans

BLANK = "\ufeff \t\r\n"
HINT = "mend the file by hand (`python -m json.tool FILE` shows the place), then try again"
COMMENTS = "JSON has no comments: take them out of the file, then try again"


def parse(text: str, path: str) -> dict[str, Any]:
    """The settings, or an error that says what is wrong with the file."""
    try:
        settings = json.loads(text.lstrip("\ufeff")) if text.strip(BLANK) else {}
    except ValueError as problem:
        hint = COMMENTS if re.search(r"^\s*//|/\*", text, re.M) else HINT
        raise SettingsFileUnusable(f"{path} is not JSON ({problem})", hint=hint) from None
    except RecursionError:
        raise SettingsFileUnusable(f"{path} is nested too deeply", hint=HINT) from None
    if not isinstance(settings, dict):
        raise SettingsFileUnusable(f"{path} does not hold a JSON object", hint=HINT)
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict) or not all(isinstance(v, list) for v in hooks.values()):
        raise SettingsFileUnusable(f'{path}: "hooks" is not an object of lists', hint=HINT)
    return settings


def registered(settings: dict[str, Any]) -> dict[str, list[str]]:
    """Our commands by event."""
    found: dict[str, list[str]] = {}
    for event, entries in settings.get("hooks", {}).items():
        for listed in entries:
            for hook in _hooks(listed):
                if is_ours(hook):
                    found.setdefault(event, []).append(_command(hook))
    return found


def repeated(settings: dict[str, Any]) -> list[str]:
    """The events at which a hook of ours would run more than once."""
    seen = [
        (event, one.get("matcher") if isinstance(one, dict) else None)
        for event, entries in settings.get("hooks", {}).items()
        for one in entries
        for hook in _hooks(one)
        if is_ours(hook)
    ]
    return [*dict.fromkeys(event for event, matcher in seen if seen.count((event, matcher)) > 1)]


def containers(settings: dict[str, Any]) -> list[str]:
    """Names `hooks` and its events, as far as they are there: what an uninstall must leave."""
    return ["hooks", *settings["hooks"]] if "hooks" in settings else []


def _hooks(listed: Any) -> list[Any]:
    """The hooks of an entry; some hosts list them without a group around."""
    hooks = listed.get("hooks") if isinstance(listed, dict) else None
    if isinstance(hooks, list):
        return hooks
    return [listed] if _command(listed) else []


def commands_in(listed: Sequence[dict[str, Any]]) -> list[str]:
    """The command of each entry of ours."""
    return [_command(_hooks(one)[0]) for one in listed]


def has_matcher(settings: dict[str, Any], event: str, matcher: str) -> bool:
    """Whether an entry of ours stands there with this matcher."""
    return any(
        isinstance(one, dict) and one.get("matcher") == matcher and any(map(is_ours, _hooks(one)))
        for one in settings.get("hooks", {}).get(event, ())
    )


def _command(hook: Any) -> str:
    command = (hook.get("command") or hook.get("bash")) if isinstance(hook, dict) else None
    return command if isinstance(command, str) else ""


def is_ours(hook: Any) -> bool:
    """Whether this hook runs a command of ours."""
    return OURS in _command(hook)


def add(
    text: str, entries: dict[str, list[dict[str, Any]]], empty: str = "{}\n"
) -> tuple[str, list[Splice]]:
    """The text with our entries, and the splices that lead there."""
    done: list[Splice] = []

    def splice(change: Splice) -> None:
        nonlocal text
        text = change.apply(text)
        done.append(change)

    if not text.strip(BLANK):
        splice(Splice(0, text, empty))
    layout = Layout.of(text)
    top = text.index("{")
    if member(text, top, "hooks") is None:
        splice(insert(text, top, "hooks", entries, 1, layout))
        return text, done
    for event, values in entries.items():
        hooks = _value(text, top, "hooks")
        if member(text, hooks, event) is None:
            splice(insert(text, hooks, event, values, 2, layout))
            continue
        for value in values:
            hooks = _value(text, top, "hooks")
            splice(insert(text, _value(text, hooks, event), "", value, 3, layout))
    return text, done


def _value(text: str, start: int, key: str) -> int:
    found = member(text, start, key)
    assert found is not None
    return found.value


def take_out(text: str, keep: Collection[str] = ()) -> str:
    """The text without our entries, whoever else changed it meanwhile.

    What that leaves empty goes too, unless `keep` (see `containers`) says it was there before.
    """
    while change := _removal(text, keep):
        text = change.apply(text)
    return text


def _removal(text: str, keep: Collection[str]) -> Splice | None:
    """Takes out the first hook of ours, together with what would be left empty."""
    top = text.find("{")
    members = spans(text, top)[0] if top >= 0 else []
    place = max((n for n, span in enumerate(members) if span.key == "hooks"), default=-1)
    if place < 0:
        return None
    hooks = members[place].value
    events, _ = spans(text, hooks)
    for number, event in enumerate(events):
        # Only a key that is repeated later, so that parsers do not see it, can be no list.
        entries = spans(text, event.value)[0] if text[event.value] == "[" else []
        for position, listed in enumerate(entries):
            value = json.loads(text[listed.value : listed.end])
            ours = [i for i, hook in enumerate(_hooks(value)) if is_ours(hook)]
            if not ours:
                continue
            if len(ours) < len(_hooks(value)):
                return remove(text, _value(text, listed.value, "hooks"), ours[0])
            if len(entries) > 1 or _stays(events, number, keep):
                return remove(text, event.value, position)
            if len(events) > 1 or _stays(members, place, keep):
                return remove(text, hooks, number)
            return remove(text, top, place)
    return None


def _stays(members: Sequence[Span], number: int, keep: Collection[str]) -> bool:
    """Whether a container stays when empty; without a repeated key its other value would count."""
    key = members[number].key
    return key in keep or sum(span.key == key for span in members) > 1
