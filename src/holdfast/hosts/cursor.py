"""Cursor: conversations instead of sessions, and no hook whose output surely reaches the model.

The output of its prompt hook is dropped. The output of `sessionStart` and `postToolUse` reaches
the model according to the documentation, but not according to bug reports. So the brief is
written into a rules file, which Cursor shows in every conversation of the project. Written from
its documentation.
"""

from __future__ import annotations

import os

from holdfast.hosts import claude_compatible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from holdfast.hosts.hook_event import HookEvent

NAME = "cursor"
TITLE = "Cursor"
PROGRAM = "cursor-agent"
MAX_BRIEF_UNITS = 9000
MAX_BRIEF_BYTES = 0
# The transcript shows neither what hooks add nor where the session was compacted.
TRANSCRIPT_SHOWS_CONTEXT_SINCE: tuple[int, ...] = claude_compatible.NEVER
MANUAL_BRIEF_SINCE: tuple[int, ...] = (0,)
HAS_SUMMARIZER_GUIDANCE = False
TRANSCRIPT_MARKS_COMPACTION = False
TRANSCRIPT_NAMES_CWD = False
RULES_FOLDER = ".cursor/rules/holdfast"
EVENT_NAMES = {
    "sessionStart": "SessionStart", "stop": "Stop", "preCompact": "PreCompact",
    "sessionEnd": "SessionEnd",
}  # fmt: skip
EVENTS = (*EVENT_NAMES,)
EMPTY_SETTINGS = '{"version": 1}\n'
SUPPORT = {
    "save": claude_compatible.DOCUMENTED,
    "restore": claude_compatible.DOCUMENTED,
    "summariser": "",
    "replace": "",
}
AFTER_INSTALL = (
    f"{claude_compatible.UNTESTED_NOTE} At a compaction the brief is written to {RULES_FOLDER} in "
    "the project, which git ignores, and removed when the conversation ends."
)


def render_context(event: str, text: str, notice: str = "") -> str:
    """Return "": nothing that a hook prints is sure to reach the model."""
    return ""


def render_user_message(text: str) -> str:
    """Return "": Cursor would take what a Stop hook prints for the user's next prompt."""
    return ""


def recognizes(payload: dict[str, Any]) -> bool:
    """Cursor is the only host that sends `conversation_id`."""
    return isinstance(payload.get("conversation_id"), str) and "hook_event_name" in payload


def parse_payload(payload: dict[str, Any]) -> HookEvent:
    """Parse a payload: a conversation is a session, the first workspace root its folder."""
    roots = payload.get("workspace_roots")
    first = roots[0] if isinstance(roots, list) and roots else ""
    fields = {"session_id": payload.get("conversation_id"), "cwd": first}
    return claude_compatible.parse_payload({**payload, **fields}, NAME, EVENT_NAMES)


def events_for(version: tuple[int, ...] | None) -> list[str]:
    """Return the events to register; they do not depend on the version."""
    return [*EVENTS]


def hook_entry(event: str, command: str) -> dict[str, Any]:
    """Return the entry to register for an event."""
    return {"command": command}


def settings_path(environ: Mapping[str, str], project: str | None, local: bool = False) -> str:
    """Return the hook file of the user, or of a project."""
    folder = (
        claude_compatible.home_folder(environ, ".cursor")
        if project is None
        else f"{project}/.cursor"
    )
    return os.path.join(folder, "hooks.json")


def is_installed(environ: Mapping[str, str], cwd: str) -> bool:
    """Return whether the hook files of the user or of the project contain our hooks."""
    return claude_compatible.is_registered(settings_path, environ, cwd)
