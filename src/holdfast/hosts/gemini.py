"""Gemini CLI: its own event names, and no hook after a compression.

`PreCompress` fires before every check whether to compress, not only before a compression, so an
automatic one is handled as a Stop. The transcript shows that a compression happened, and the next
prompt hook then prints the brief. Written from its documentation and published code.
"""

from __future__ import annotations

import os

from holdfast.hosts import claude_code, claude_compatible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from holdfast.hosts.hook_event import HookEvent

NAME = "gemini"
TITLE = "Gemini CLI"
PROGRAM = "gemini"
MAX_BRIEF_UNITS = 9000
MAX_BRIEF_BYTES = 0
# The transcript does not show what hooks add.
TRANSCRIPT_SHOWS_CONTEXT_SINCE: tuple[int, ...] = claude_compatible.NEVER
MANUAL_BRIEF_SINCE: tuple[int, ...] = (0,)
HAS_SUMMARIZER_GUIDANCE = False
TRANSCRIPT_MARKS_COMPACTION = True
TRANSCRIPT_NAMES_CWD = False
RULES_FOLDER = ""
EVENT_NAMES = {"BeforeAgent": "UserPromptSubmit", "AfterAgent": "Stop", "PreCompress": "PreCompact"}
GEMINI_EVENT_NAMES = {ours: theirs for theirs, ours in EVENT_NAMES.items()}
EVENTS = ("SessionStart", "BeforeAgent", "AfterAgent", "PreCompress", "SessionEnd")
EMPTY_SETTINGS = "{}\n"
SUPPORT = {
    "save": claude_compatible.DOCUMENTED,
    "restore": claude_compatible.DOCUMENTED,
    "summariser": "",
    "replace": "",
}
AFTER_INSTALL = claude_compatible.UNTESTED_NOTE

render_user_message = claude_code.render_user_message


def render_context(event: str, text: str, notice: str = "") -> str:
    """Render as for Claude Code, with Gemini's event name."""
    return claude_code.render_context(GEMINI_EVENT_NAMES.get(event, event), text, notice)


def recognizes(payload: dict[str, Any]) -> bool:
    """Its payloads have a `timestamp`; for session events the transcript's folder decides."""
    if not claude_compatible.is_claude_like(payload) or "timestamp" not in payload:
        return False
    return payload["hook_event_name"] in EVENT_NAMES or claude_compatible.has_transcript_under(
        payload, ".gemini"
    )


def parse_payload(payload: dict[str, Any]) -> HookEvent:
    """Parse a payload; an automatic `PreCompress` becomes a Stop."""
    event = claude_compatible.parse_payload(payload, NAME, EVENT_NAMES)
    if event.name == "PreCompact" and event.trigger != "manual":
        event.name = "Stop"
    return event


def events_for(version: tuple[int, ...] | None) -> list[str]:
    """Return the events to register; they do not depend on the version."""
    return [*EVENTS]


def hook_entry(event: str, command: str) -> dict[str, Any]:
    """Return the entry to register for an event; the timeout is in milliseconds."""
    return claude_compatible.hook_group(command, claude_code.HOOK_TIMEOUT_SECONDS * 1000)


def settings_path(environ: Mapping[str, str], project: str | None, local: bool = False) -> str:
    """Return the hook file of the user, or of a project."""
    folder = (
        claude_compatible.home_folder(environ, ".gemini")
        if project is None
        else f"{project}/.gemini"
    )
    return os.path.join(folder, "settings.json")


def is_installed(environ: Mapping[str, str], cwd: str) -> bool:
    """Return whether the hook files of the user or of the project contain our hooks."""
    return claude_compatible.is_registered(settings_path, environ, cwd)
