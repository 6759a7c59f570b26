"""Copilot CLI: registered under Claude Code's event names, it sends nearly the same payloads.

No hook fires after a compaction. The transcript shows it, and the next prompt hook then prints the
brief, if the client passes it on. Written from its documentation and changelog.
"""

from __future__ import annotations

import os

from holdfast.fast_json import dumps
from holdfast.hosts import claude_code, claude_compatible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from holdfast.hosts.hook_event import HookEvent

NAME = "copilot"
TITLE = "Copilot CLI"
PROGRAM = "copilot"
MAX_BRIEF_UNITS = 9000
MAX_BRIEF_BYTES = 0
# The transcript does not show what hooks add.
TRANSCRIPT_SHOWS_CONTEXT_SINCE: tuple[int, ...] = claude_compatible.NEVER
MANUAL_BRIEF_SINCE: tuple[int, ...] = (0,)
HAS_SUMMARIZER_GUIDANCE = False
TRANSCRIPT_MARKS_COMPACTION = True
TRANSCRIPT_NAMES_CWD = True
RULES_FOLDER = ""
EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")
EMPTY_SETTINGS = '{"version": 1}\n'
SUPPORT = {
    "save": claude_compatible.DOCUMENTED,
    "restore": claude_compatible.CHANGELOG,
    "summariser": "",
    "replace": "",
}
AFTER_INSTALL = (
    f"{claude_compatible.UNTESTED_NOTE} According to its changelog the brief reaches the model "
    "from version 1.0.65 on; according to its reference the output of a prompt hook is dropped. "
    "`holdfast recall` works either way."
)


def render_context(event: str, text: str, notice: str = "") -> str:
    """Render context for the model; `notice` is dropped, see `render_user_message`."""
    return dumps({"additionalContext": text})


def render_user_message(text: str) -> str:
    """Return "": Copilot has no way to show the user a message."""
    return ""


def recognizes(payload: dict[str, Any]) -> bool:
    """Recognize the folder of its transcripts, or its own field names."""
    if "sessionId" in payload and "transcriptPath" in payload:
        return True
    return claude_compatible.is_claude_like(payload) and claude_compatible.has_transcript_under(
        payload, ".copilot"
    )


def parse_payload(payload: dict[str, Any]) -> HookEvent:
    """Parse a payload, which has Claude Code's field names or Copilot's own."""
    names = {"sessionId": "session_id", "transcriptPath": "transcript_path"}
    renamed = {ours: payload[theirs] for theirs, ours in names.items() if theirs in payload}
    return claude_compatible.parse_payload({**payload, **renamed}, NAME)


def events_for(version: tuple[int, ...] | None) -> list[str]:
    """Return the events to register; they do not depend on the version."""
    return [*EVENTS]


def hook_entry(event: str, command: str) -> dict[str, Any]:
    """Return the entry to register for an event."""
    return {"type": "command", "bash": command, "timeoutSec": claude_code.HOOK_TIMEOUT_SECONDS}


def settings_path(environ: Mapping[str, str], project: str | None, local: bool = False) -> str:
    """Return a file of our own: Copilot reads every file of that folder."""
    folder = (
        claude_compatible.home_folder(environ, ".copilot")
        if project is None
        else f"{project}/.github"
    )
    return os.path.join(folder, "hooks", "holdfast.json")


def is_installed(environ: Mapping[str, str], cwd: str) -> bool:
    """Return whether the hook files of the user or of the project contain our hooks."""
    return claude_compatible.is_registered(settings_path, environ, cwd)
