"""Register and remove our hooks in a settings file of Claude Code's shape.

Works on text only; reading, writing and remembering are the installer's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from holdfast.errors import SettingsFileUnusable
from holdfast.hosts.json_text import Layout, Splice, insert, member, remove, spans

OURS = "holdfast.surfaces.hook"
HINT = "mend the file by hand (`python -m json.tool FILE` shows the place), then try again"


def parse(text: str, path: str) -> dict[str, Any]:
    """The settings, or an error that says what is wrong with the file."""
    try:
        settings = json.loads(text.lstrip("\ufeff")) if text.strip("\ufeff \t\r\n") else {}
    except ValueError as problem:
        raise SettingsFileUnusable(f"{path} is not JSON ({problem})", hint=HINT) from None
    except RecursionError:
        raise SettingsFileUnusable(f"{path} is nested too deeply", hint=HINT) from None
    if not isinstance(settings, dict):
        raise SettingsFileUnusable(f"{path} does not hold a JSON object", hint=HINT)
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict) or not all(isinstance(v, list) for v in hooks.values()):
        raise SettingsFileUnusable(f'{path}: "hooks" is not an object of lists', hint=HINT)
    return settings


def entry(command: str, timeout: int | None) -> dict[str, Any]:
    hook: dict[str, Any] = {"type": "command", "command": command}
    if timeout is not None:
        hook["timeout"] = timeout
    return {"hooks": [hook]}


def registered(settings: dict[str, Any]) -> dict[str, list[str]]:
    """Our commands by event."""
    found: dict[str, list[str]] = {}
    for event, entries in settings.get("hooks", {}).items():
        for listed in entries:
            for hook in _hooks(listed):
                if _is_ours(hook):
                    found.setdefault(event, []).append(hook["command"])
    return found


def _hooks(listed: Any) -> list[Any]:
    hooks = listed.get("hooks") if isinstance(listed, dict) else None
    return hooks if isinstance(hooks, list) else []


def _is_ours(hook: Any) -> bool:
    command = hook.get("command") if isinstance(hook, dict) else None
    return isinstance(command, str) and OURS in command


def add(text: str, entries: dict[str, dict[str, Any]]) -> tuple[str, list[Splice]]:
    """The text with our entries, and the splices that lead there."""
    done: list[Splice] = []

    def splice(change: Splice) -> None:
        nonlocal text
        text = change.apply(text)
        done.append(change)

    if not text.strip("\ufeff \t\r\n"):
        splice(Splice(0, text, "{}\n"))
    layout = Layout.of(text)
    top = text.index("{")
    if member(text, top, "hooks") is None:
        splice(insert(text, top, "hooks", entries_as_lists(entries), 1, layout))
        return text, done
    for event, value in entries.items():
        hooks = _value(text, top, "hooks")
        if member(text, hooks, event) is None:
            splice(insert(text, hooks, event, [value], 2, layout))
        else:
            splice(insert(text, _value(text, hooks, event), "", value, 3, layout))
    return text, done


def entries_as_lists(entries: dict[str, dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    return {event: [value] for event, value in entries.items()}


def _value(text: str, start: int, key: str) -> int:
    found = member(text, start, key)
    assert found is not None
    return found.value


def take_out(text: str) -> str:
    """The text without our entries, whoever else changed it meanwhile."""
    while change := next(_removals(text), None):
        text = change.apply(text)
    return text


def _removals(text: str) -> Iterator[Splice]:
    """The next thing to take out: a hook of ours, then what that left empty."""
    top = text.find("{")
    hooks = member(text, top, "hooks") if top >= 0 else None
    if hooks is None:
        return
    events, _ = spans(text, hooks.value)
    for number, event in enumerate(events):
        entries, _ = spans(text, event.value)
        for position, listed in enumerate(entries):
            value = json.loads(text[listed.value : listed.end])
            ours = [i for i, hook in enumerate(_hooks(value)) if _is_ours(hook)]
            if not ours:
                continue
            if len(ours) < len(_hooks(value)):
                yield remove(text, _value(text, listed.value, "hooks"), ours[0])
            elif len(entries) > 1:
                yield remove(text, event.value, position)
            elif len(events) > 1:
                yield remove(text, hooks.value, number)
            else:
                members, _ = spans(text, top)
                yield remove(text, top, [span.key for span in members].index("hooks"))
