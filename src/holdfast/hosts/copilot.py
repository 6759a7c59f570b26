"""Copilot CLI: with events named as Claude Code names them it sends nearly the same payloads.

Nothing fires after a compaction; that one happened stands in the log, and the next prompt then
brings the brief, if the client lets it through. From its documentation and changelog.
"""

from __future__ import annotations

import os

from holdfast.hosts import dialect
from holdfast.quick_json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from holdfast.hosts.call import HookCall

NAME = "copilot"
TITLE = "Copilot CLI"
PROGRAM = "copilot"
CHARACTERS = 9000
BYTES = 0
# Its log does not show what hooks inject.
RECORDS_DELIVERY_SINCE: tuple[int, ...] = dialect.NEVER
NAMES_SUB_AGENTS_SINCE: tuple[int, ...] = (0,)
MANUAL_BRIEF_SINCE: tuple[int, ...] = (0,)
GUIDES_SUMMARY = False
WRITES_BOUNDARY = True
TELLS_FOLDER = True
RULES = ""
EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")
EMPTY = '{"version": 1}\n'
SUPPORT = {
    "save": dialect.DOCUMENTED, "restore": dialect.CHANGELOG, "summariser": "", "replace": "",
}  # fmt: skip
AFTER_INSTALL = (
    f"{dialect.UNTRIED} By its changelog the brief reaches the model from 1.0.65 on; by its "
    "reference what a prompt hook says is dropped. `holdfast recall` works either way."
)


def context(event: str, text: str, notice: str = "") -> str:
    return dumps({"additionalContext": text})


def message(text: str) -> str:
    """There is no way to show a person something."""
    return ""


def recognises(payload: dict[str, Any]) -> bool:
    """Its logs have a folder of their own; with its own names for events it says `sessionId`."""
    if "sessionId" in payload and "transcriptPath" in payload:
        return True
    return dialect.is_claude_like(payload) and dialect.lies_in(payload, ".copilot")


def call(payload: dict[str, Any]) -> HookCall:
    names = {"sessionId": "session_id", "transcriptPath": "transcript_path"}
    told = {ours: payload[theirs] for theirs, ours in names.items() if theirs in payload}
    return dialect.called({**payload, **told}, NAME)


def events_for(version: tuple[int, ...] | None) -> list[str]:
    return [*EVENTS]


def entry(event: str, command: str) -> dict[str, Any]:
    return {"type": "command", "bash": command, "timeoutSec": 15}


def settings_path(environ: Mapping[str, str], project: str | None, local: bool = False) -> str:
    """A file of our own: it reads every one of that folder."""
    folder = dialect.home(environ, ".copilot") if project is None else f"{project}/.github"
    return os.path.join(folder, "hooks", "holdfast.json")


def is_installed(environ: Mapping[str, str], cwd: str) -> bool:
    return dialect.is_registered(settings_path, environ, cwd)
