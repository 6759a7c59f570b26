"""deepagents-code: Claude Code's payloads. Checked against version 0.1.57.

Its transcript holds prompts, replies and tool results, but no tool calls.
"""

from __future__ import annotations

import os

from holdfast.hosts import claude_code, claude_compatible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from holdfast.hosts.hook_event import HookEvent

NAME = "deepagents"
TITLE = "deepagents-code"
PROGRAM = "dcode"
MAX_BRIEF_UNITS = 9000
MAX_BRIEF_BYTES = 0
# The transcript shows neither what hooks add nor where the session was compacted.
TRANSCRIPT_SHOWS_CONTEXT_SINCE: tuple[int, ...] = claude_compatible.NEVER
MANUAL_BRIEF_SINCE: tuple[int, ...] = (0,)
HAS_SUMMARIZER_GUIDANCE = False
TRANSCRIPT_MARKS_COMPACTION = False
TRANSCRIPT_NAMES_CWD = False
RULES_FOLDER = ""
# Never PreCompact: in 0.1.52–0.1.57 any hook registered for it makes automatic compaction fail
# with `BlockingError: os.getcwd`. The session is saved at Stop and at SessionStart instead.
EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd")
EMPTY_SETTINGS = "{}\n"
SUPPORT = {
    "save": claude_compatible.DOCUMENTED,
    "restore": claude_compatible.DOCUMENTED,
    "summariser": "",
    "replace": "",
}
AFTER_INSTALL = claude_compatible.UNTESTED_NOTE

render_context = claude_code.render_context
render_user_message = claude_code.render_user_message


def recognizes(payload: dict[str, Any]) -> bool:
    """Recognize the folder of its transcripts."""
    return claude_compatible.is_claude_like(payload) and claude_compatible.has_transcript_under(
        payload, ".deepagents"
    )


def parse_payload(payload: dict[str, Any]) -> HookEvent:
    """Parse a payload, which has Claude Code's field names."""
    return claude_compatible.parse_payload(payload, NAME)


def events_for(version: tuple[int, ...] | None) -> list[str]:
    """Return the events to register; they do not depend on the version."""
    return [*EVENTS]


def hook_entry(event: str, command: str) -> dict[str, Any]:
    """Return the entry to register for an event."""
    return claude_compatible.hook_group(command, claude_code.HOOK_TIMEOUT_SECONDS)


def settings_path(environ: Mapping[str, str], project: str | None, local: bool = False) -> str:
    """Return the hook file of the user, or of a project."""
    folder = (
        claude_compatible.home_folder(environ, ".deepagents")
        if project is None
        else f"{project}/.deepagents"
    )
    return os.path.join(folder, "hooks.json")


def is_installed(environ: Mapping[str, str], cwd: str) -> bool:
    """Return whether the hook files of the user or of the project contain our hooks."""
    return claude_compatible.is_registered(settings_path, environ, cwd)
