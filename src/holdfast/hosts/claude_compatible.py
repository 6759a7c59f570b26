"""Shared by the adapters of hosts whose hooks work like Claude Code's, or nearly so."""

from __future__ import annotations

import os

from holdfast.hosts import claude_code, hook_entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from holdfast.hosts.hook_event import HookEvent

# Values of `Host.SUPPORT`: the host's documentation says that it works, or only its changelog.
DOCUMENTED = "documentation"
CHANGELOG = "changelog"
UNTESTED_NOTE = (
    "This follows the host's documentation and was not yet tested with the client: "
    "`holdfast doctor` says whether the hooks fire."
)
# For `Host.TRANSCRIPT_SHOWS_CONTEXT_SINCE`: no client has this version.
NEVER = (9999,)


def parse_payload(
    payload: dict[str, Any], host: str, event_names: Mapping[str, str] | None = None
) -> HookEvent:
    """Parse a payload with Claude Code's field names.

    `event_names` maps the host's own event names to Claude Code's.
    """
    event = claude_code.parse_payload(payload)
    event.host = host
    event.name = (event_names or {}).get(event.name, event.name)
    event.is_compaction_fork = False
    return event


def hook_group(command: str, timeout: int) -> dict[str, Any]:
    """Return a settings entry in Claude Code's form: a group with one hook.

    `timeout` is in the unit of the host: milliseconds for Gemini CLI, seconds for others.
    """
    return {"hooks": [{"type": "command", "command": command, "timeout": timeout}]}


def home_folder(environ: Mapping[str, str], name: str) -> str:
    """Return the path of this folder in the user's home."""
    return os.path.join(environ.get("HOME") or os.path.expanduser("~"), name)


def is_registered(
    settings_path: Callable[[Mapping[str, str], str | None], str],
    environ: Mapping[str, str],
    cwd: str,
) -> bool:
    """Return whether the user's or the project's settings file contains our hooks."""
    paths = [settings_path(environ, None), *([settings_path(environ, cwd)] if cwd else [])]
    return any(hook_entries.registers_our_hooks(path) for path in paths)


def has_transcript_under(payload: dict[str, Any], folder: str) -> bool:
    """Return whether the transcript of this payload is somewhere below a folder of this name."""
    path = payload.get("transcript_path")
    return isinstance(path, str) and f"/{folder}/" in path.replace("\\", "/")


def is_claude_like(payload: dict[str, Any]) -> bool:
    """Return whether the payload has Claude Code's fields for event and session."""
    return isinstance(payload.get("hook_event_name"), str) and isinstance(
        payload.get("session_id"), str
    )
