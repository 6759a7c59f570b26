"""Gemini CLI: its own names for the events, and nothing that fires after a compression.

It asks `PreCompress` before every check whether to compress, so an automatic one only reads on;
that a compression happened stands in the log, and the next prompt then brings the brief. From
its documentation and published code.
"""

from __future__ import annotations

import os

from holdfast.hosts import claude_code, dialect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from holdfast.hosts.call import HookCall

NAME = "gemini"
TITLE = "Gemini CLI"
PROGRAM = "gemini"
CHARACTERS = 9000
BYTES = 0
# Its log does not show what hooks inject.
RECORDS_DELIVERY_SINCE: tuple[int, ...] = dialect.NEVER
NAMES_SUB_AGENTS_SINCE: tuple[int, ...] = (0,)
MANUAL_BRIEF_SINCE: tuple[int, ...] = (0,)
GUIDES_SUMMARY = False
WRITES_BOUNDARY = True
TELLS_FOLDER = False
RULES = ""
OURS = {"BeforeAgent": "UserPromptSubmit", "AfterAgent": "Stop", "PreCompress": "PreCompact"}
THEIRS = {ours: theirs for theirs, ours in OURS.items()}
EVENTS = ("SessionStart", "BeforeAgent", "AfterAgent", "PreCompress", "SessionEnd")
EMPTY = "{}\n"
SUPPORT = {
    "save": dialect.DOCUMENTED, "restore": dialect.DOCUMENTED, "summariser": "", "replace": "",
}  # fmt: skip
AFTER_INSTALL = dialect.UNTRIED

message = claude_code.message


def context(event: str, text: str, notice: str = "") -> str:
    return claude_code.context(THEIRS.get(event, event), text, notice)


def recognises(payload: dict[str, Any]) -> bool:
    """Its payloads have the time; events of a session as a whole are told by the log."""
    if not dialect.is_claude_like(payload) or "timestamp" not in payload:
        return False
    return payload["hook_event_name"] in OURS or dialect.lies_in(payload, ".gemini")


def call(payload: dict[str, Any]) -> HookCall:
    told = dialect.called(payload, NAME, OURS)
    if told.event == "PreCompact" and told.trigger != "manual":
        told.event = "Stop"
    return told


def events_for(version: tuple[int, ...] | None) -> list[str]:
    return [*EVENTS]


def entry(event: str, command: str) -> dict[str, Any]:
    """Here a timeout is in milliseconds."""
    return dialect.nested(command, 15_000)


def settings_path(environ: Mapping[str, str], project: str | None, local: bool = False) -> str:
    folder = dialect.home(environ, ".gemini") if project is None else f"{project}/.gemini"
    return os.path.join(folder, "settings.json")


def is_installed(environ: Mapping[str, str], cwd: str) -> bool:
    return dialect.is_registered(settings_path, environ, cwd)
