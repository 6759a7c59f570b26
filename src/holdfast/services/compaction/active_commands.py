"""Which slash commands and skills are active in a session, and their rules to keep.

The transcript shows which commands were used. The store adds, under the key `commands` of the
session's marks, those that the host reported as they were typed and those started or stopped by
hand. A command that is used again after it was stopped is active again.
"""

from __future__ import annotations

import os
import time

from holdfast import diagnostics
from holdfast.services.compaction.command_files import (
    CommandRefused,
    read_command,
    split_command_name,
)
from holdfast.state.rules.commands import is_built_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NotRequired, TypedDict

    from holdfast.settings import Settings
    from holdfast.state.types import State
    from holdfast.store.protocols import Store

    class ActiveCommand(TypedDict):
        """A command of a session, as `holdfast commands --json` prints it."""

        name: str
        activated_at: str
        line: int
        state: dict[str, Any]
        status: str
        """active, or finished."""
        asked: NotRequired[str]
        """The arguments that the command was called with."""


COMMANDS_MARK = "commands"
CLEARED_KEY = ":cleared"  # cannot be the name of a command
# Values of `status` in a command's own state that mean it is finished.
FINISHED_STATUSES = ("done", "finished", "completed", "complete", "stopped")


def list_commands(state: State, mark: dict[str, Any]) -> list[ActiveCommand]:
    """Return every command of the session once, active or finished, oldest first."""
    cleared_line = mark.get(CLEARED_KEY, {}).get("line", -1)
    commands: dict[str, ActiveCommand] = {}
    for used in state["commands"]:
        if used["line"] > cleared_line:
            commands[used["name"]] = {
                "name": used["name"], "activated_at": used.get("at", ""), "line": used["line"],
                "state": {}, "status": "active", "asked": used["text"],
            }  # fmt: skip
    for name, entry in mark.items():
        if name == CLEARED_KEY:
            continue
        command = commands.get(name)
        if command is None:
            command = commands[name] = {
                "name": name, "activated_at": entry["at"], "line": entry["line"],
                "state": {}, "status": "active",
            }  # fmt: skip
        command["state"] = entry["state"]
        is_finished = str(entry["state"].get("status", "")).lower() in FINISHED_STATUSES
        if (not entry["active"] or is_finished) and command["line"] <= entry["line"]:
            command["status"] = "finished"
    return sorted(commands.values(), key=lambda command: command["line"])


def load_active_rules(
    state: State, store: Store, settings: Settings, cwd: str, budget: int, session: str = ""
) -> list[tuple[str, str, str]]:
    """Return name, text and source file of the rules of each active command.

    `budget` is in characters (UTF-16 units), for all of them together. Commands that only printed
    something, that are finished, or that have no file are left out.
    """
    mark = store.get_mark(session or state["place"].get("session", ""), COMMANDS_MARK)
    active = [command for command in list_commands(state, mark) if command["status"] == "active"]
    if not active:
        return []
    from holdfast.brief.command_rules import extract_rules, fit_rules

    files = [(command, *_read(command["name"], settings, cwd)) for command in active]
    parsed = [
        (command["name"], extract_rules(text, command["state"]), path)
        for command, text, path in files
        if path
    ]
    kept = [(name, rules, path) for name, rules, path in parsed if not rules.output_only]
    fitted = fit_rules([rules for _, rules, _ in kept], budget)
    return [(name, text, path) for (name, _, path), text in zip(kept, fitted, strict=True) if text]


def _read(name: str, settings: Settings, cwd: str) -> tuple[str, str]:
    """Return text and path of the command's file; a refused name is logged and has none."""
    try:
        return read_command(name, cwd, settings.command_sources, os.environ)
    except CommandRefused as problem:
        diagnostics.log(settings.log, f"command refused: {problem}", os.environ)
        return "", ""


def start_command(
    store: Store, session: str, name: str, line: int, now: float, state: dict[str, Any] | None
) -> None:
    """Mark a command as active; if it is active already, only its state is replaced.

    Raises CommandRefused if the name is not that of a command.
    """
    split_command_name(name)
    mark = store.get_mark(session, COMMANDS_MARK)
    old = mark.get(name, {})
    started_at = old["at"] if old.get("active") else _timestamp(now)
    new_state = old.get("state", {}) if state is None else state
    mark[name] = {"active": True, "line": line, "at": started_at, "state": new_state}
    store.set_mark(session, COMMANDS_MARK, mark)


def record_typed_command(
    store: Store, session: str, name: str, line: int, now: float, settings: Settings
) -> None:
    """Mark a command that the host reports as typed, before the transcript shows it."""
    if is_built_in(name.lstrip("/")):
        return
    try:
        start_command(store, session, name.lstrip("/"), line, now, None)
    except CommandRefused as problem:
        diagnostics.log(settings.log, f"command refused: {problem}", os.environ)


def stop_command(store: Store, session: str, name: str, line: int, now: float) -> None:
    """Mark a command as finished: its rules no longer apply."""
    mark = store.get_mark(session, COMMANDS_MARK)
    old = mark.get(name, {"at": _timestamp(now), "state": {}})
    mark[name] = {**old, "active": False, "line": line}
    store.set_mark(session, COMMANDS_MARK, mark)


def clear_commands(store: Store, session: str, line: int) -> None:
    """Forget all commands up to this line: a new conversation starts without them."""
    if line or store.get_mark(session, COMMANDS_MARK):
        store.set_mark(session, COMMANDS_MARK, {CLEARED_KEY: {"line": line}})


def _timestamp(now: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
