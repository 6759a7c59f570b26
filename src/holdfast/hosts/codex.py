"""Codex: its hook payloads and output, and its hook files.

The payloads are Claude Code's with some more fields. Codex silently skips a hook that the user has
not trusted; `codex_trust.py` checks that.
"""

from __future__ import annotations

import os

from holdfast.hosts import claude_code, claude_compatible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from holdfast.hosts.hook_event import HookEvent

NAME = "codex"
TITLE = "Codex"
PROGRAM = "codex"
# Codex counts four bytes as a token and cuts out the middle above 2,500 tokens.
MAX_BRIEF_BYTES = 9900
MAX_BRIEF_UNITS = 9500
# Every version with hooks writes what they add into its transcript, and names the sub-agent in
# payloads that come from one.
TRANSCRIPT_SHOWS_CONTEXT_SINCE: tuple[int, ...] = (0,)
MANUAL_BRIEF_SINCE: tuple[int, ...] = (0,)
# What a PreCompact hook prints is dropped.
HAS_SUMMARIZER_GUIDANCE = False
EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "Stop",
    "PreCompact",
    "PostCompact",
    "SessionEnd",
)
# At SessionEnd Codex allows 1 s by default and 3 s at most.
MAX_SESSION_END_TIMEOUT_SECONDS = 3
TRANSCRIPT_MARKS_COMPACTION = True
TRANSCRIPT_NAMES_CWD = True
RULES_FOLDER = ""
EMPTY_SETTINGS = "{}\n"
SUPPORT = {"save": "real client", "restore": "real client", "summariser": "", "replace": ""}
AFTER_INSTALL = (
    "Codex silently skips hooks that you have not trusted: start `codex` and trust these in the "
    "review that it shows, or with /hooks. `holdfast doctor` says whether that was done."
)
# The names of transcripts begin with this, and with no other host.
TRANSCRIPT_FILE_PREFIX = "rollout-"


def recognizes(payload: dict[str, Any]) -> bool:
    """Most payloads have `turn_id`; those of session events are recognized by the transcript."""
    if not isinstance(payload.get("hook_event_name"), str):
        return False
    path = payload.get("transcript_path")
    return "turn_id" in payload or (
        isinstance(path, str) and TRANSCRIPT_FILE_PREFIX in os.path.basename(path)
    )


def parse_payload(payload: dict[str, Any]) -> HookEvent:
    """Parse a payload, which has Claude Code's field names but no summary."""
    return claude_compatible.parse_payload(payload, NAME)


render_context = claude_code.render_context
render_user_message = claude_code.render_user_message


def events_for(version: tuple[int, ...] | None) -> list[str]:
    """Return the events to register; every version that has hooks knows them."""
    return [*EVENTS]


def hook_entry(event: str, command: str) -> dict[str, Any]:
    """Return the entry to register for an event."""
    at_end = event == "SessionEnd"
    timeout = MAX_SESSION_END_TIMEOUT_SECONDS if at_end else claude_code.HOOK_TIMEOUT_SECONDS
    return claude_compatible.hook_group(command, timeout)


def settings_path(environ: Mapping[str, str], project: str | None, local: bool = False) -> str:
    """Return the hook file of the user, or of a project; Codex has no `local` one."""
    if project is not None:
        return os.path.join(project, ".codex", "hooks.json")
    return os.path.join(config_folder(environ), "hooks.json")


def config_folder(environ: Mapping[str, str]) -> str:
    """Return the folder of the client's settings, hook file and transcripts."""
    home = environ.get("HOME") or os.path.expanduser("~")
    return environ.get("CODEX_HOME") or os.path.join(home, ".codex")


def is_installed(environ: Mapping[str, str], cwd: str) -> bool:
    """Return whether the hook files of the user or of the project contain our hooks."""
    return claude_compatible.is_registered(settings_path, environ, cwd)
