"""Which slash commands and skills are active in a session, and what of them must hold on.

The transcript tells which were used; a mark in the store adds those that the host told of as they
were typed, and what was started or stopped by hand. A command used again after it was stopped is
active again.
"""

from __future__ import annotations

import os
import time

from holdfast import log
from holdfast.actions.command_files import Refused, read, words_of
from holdfast.state.rules.commands import is_built_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NotRequired, TypedDict

    from holdfast.settings import Settings
    from holdfast.state.model import State
    from holdfast.store.base import Store

    class Active(TypedDict):
        name: str
        activated_at: str
        line: int
        state: dict[str, Any]
        status: str
        """active, or finished."""
        asked: NotRequired[str]


MARK = "commands"
CLEARED = ":cleared"  # no command has such a name
# A command that says so in its own state has done its work.
DONE = ("done", "finished", "completed", "complete", "stopped")


def known(state: State, mark: dict[str, Any]) -> list[Active]:
    """Every command of the session, oldest first, active or finished, each once."""
    cleared = mark.get(CLEARED, {}).get("line", -1)
    found: dict[str, Active] = {}
    for used in state["commands"]:
        if used["line"] > cleared:
            found[used["name"]] = {
                "name": used["name"], "activated_at": used.get("at", ""), "line": used["line"],
                "state": {}, "status": "active", "asked": used["text"],
            }  # fmt: skip
    for name, told in mark.items():
        if name == CLEARED:
            continue
        seen = found.get(name)
        if seen is None:
            seen = found[name] = {
                "name": name, "activated_at": told["at"], "line": told["line"],
                "state": {}, "status": "active",
            }  # fmt: skip
        seen["state"] = told["state"]
        is_done = str(told["state"].get("status", "")).lower() in DONE
        if (not told["active"] or is_done) and seen["line"] <= told["line"]:
            seen["status"] = "finished"
    return sorted(found.values(), key=lambda one: one["line"])


def active_rules(
    state: State, store: Store, settings: Settings, cwd: str, budget: int, session: str = ""
) -> list[tuple[str, str, str]]:
    """Name, text and source file of what each active command asks to be kept.

    `budget` is in characters (UTF-16 units), for all of them together. A command that only
    printed something, one that is finished and one without a file contribute nothing.
    """
    mark = store.mark(session or state["place"].get("session", ""), MARK)
    active = [one for one in known(state, mark) if one["status"] == "active"]
    if not active:
        return []
    from holdfast.brief.command_text import of_file, shared

    read_in = [(one, *_read(one["name"], settings, cwd)) for one in active]
    texts = [
        (one["name"], of_file(text, one["state"]), path) for one, text, path in read_in if path
    ]
    wanted = [(name, text, path) for name, text, path in texts if not text.output_only]
    fitted = shared([text for _, text, _ in wanted], budget)
    return [
        (name, text, path) for (name, _, path), text in zip(wanted, fitted, strict=True) if text
    ]


def _read(name: str, settings: Settings, cwd: str) -> tuple[str, str]:
    """The command's file; whatever tries to lead elsewhere is refused, and the log says so."""
    try:
        return read(name, cwd, settings.command_sources, os.environ)
    except Refused as problem:
        log.note(settings.log, f"command refused: {problem}", os.environ)
        return "", ""


def start(
    store: Store, session: str, name: str, line: int, now: float, state: dict[str, Any] | None
) -> None:
    """Register a command by hand; one that is active already only takes the new state."""
    words_of(name)
    mark = store.mark(session, MARK)
    old = mark.get(name, {})
    kept = old["at"] if old.get("active") else _stamp(now)
    given = old.get("state", {}) if state is None else state
    mark[name] = {"active": True, "line": line, "at": kept, "state": given}
    store.set_mark(session, MARK, mark)


def typed(store: Store, session: str, name: str, line: int, now: float, settings: Settings) -> None:
    """The host says that a command was typed, before its transcript does."""
    if is_built_in(name.lstrip("/")):
        return
    try:
        start(store, session, name.lstrip("/"), line, now, None)
    except Refused as problem:
        log.note(settings.log, f"command refused: {problem}", os.environ)


def stop(store: Store, session: str, name: str, line: int, now: float) -> None:
    """A command has done its work: its rules no longer hold."""
    mark = store.mark(session, MARK)
    old = mark.get(name, {"at": _stamp(now), "state": {}})
    mark[name] = {**old, "active": False, "line": line}
    store.set_mark(session, MARK, mark)


def clear(store: Store, session: str, line: int) -> None:
    """A new session begins: what was active in an earlier one does not carry over."""
    if line or store.mark(session, MARK):
        store.set_mark(session, MARK, {CLEARED: {"line": line}})


def _stamp(now: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
