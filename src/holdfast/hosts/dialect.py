"""What hosts that speak Claude Code's dialect, or nearly so, have in common."""

from __future__ import annotations

import os

from holdfast.hosts import claude_code
from holdfast.hosts.call import HookCall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

DOCUMENTED = "documentation"
# The host's changelog says that it works, its reference does not.
CHANGELOG = "changelog"
UNTRIED = (
    "This is written from the host's documentation and not yet run against the client: "
    "`holdfast doctor` tells whether the hooks fire."
)
# A version that no client will have.
NEVER = (9999,)


def called(payload: dict[str, Any], host: str, events: Mapping[str, str] | None = None) -> HookCall:
    """A payload as a call; `events` are the host's own names for what we know by others."""
    told = claude_code.call(payload)
    told.host = host
    told.event = (events or {}).get(told.event, told.event)
    told.is_compaction_fork = False
    return told


def nested(command: str, timeout: int | None) -> dict[str, Any]:
    """An entry as Claude Code has it: a group of hooks."""
    hook: dict[str, Any] = {"type": "command", "command": command}
    return {"hooks": [hook if timeout is None else {**hook, "timeout": timeout}]}


def home(environ: Mapping[str, str], name: str) -> str:
    """The folder of that name in the user's home."""
    return os.path.join(environ.get("HOME") or os.path.expanduser("~"), name)


def is_registered(
    settings_path: Callable[[Mapping[str, str], str | None], str],
    environ: Mapping[str, str],
    cwd: str,
) -> bool:
    """Whether the user's list of hooks or the project's names ours."""
    paths = [settings_path(environ, None), *([settings_path(environ, cwd)] if cwd else [])]
    return any(claude_code.names_us(path) for path in paths)


def lies_in(payload: dict[str, Any], folder: str) -> bool:
    """Whether the log of this payload's session lies in a folder of that name."""
    path = payload.get("transcript_path")
    return isinstance(path, str) and f"/{folder}/" in path.replace("\\", "/")


def is_claude_like(payload: dict[str, Any]) -> bool:
    return isinstance(payload.get("hook_event_name"), str) and isinstance(
        payload.get("session_id"), str
    )
