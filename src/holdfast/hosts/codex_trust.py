"""Finds out whether Codex runs our hooks: it silently skips those that the user has not trusted.

When the user trusts a hook, Codex stores its checksum in `config.toml`, under
`[hooks.state."FILE:EVENT:GROUP:HANDLER"]`. This module only reads that file: what to trust is for
the user to decide.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from holdfast.hosts.codex import MAX_SESSION_END_TIMEOUT_SECONDS
from holdfast.hosts.hook_entries import runs_our_command

TrustStatus = Literal["trusted", "untrusted", "modified", "disabled"]
# The timeouts of an entry that has none itself: of most events, and of SessionEnd.
DEFAULT_TIMEOUT_SECONDS, DEFAULT_SESSION_END_TIMEOUT_SECONDS = 600, 1


class HookTrust(NamedTuple):
    """Whether Codex runs our hook for this event."""

    event: str
    status: TrustStatus


def hook_trust(path: str, settings: dict[str, Any], config: dict[str, Any]) -> Iterator[HookTrust]:
    """Yield the status of each hook of ours in the hook file `path`, given `config.toml`."""
    states = _table(_table(config, "hooks"), "state")
    # Codex resolves an explicit CODEX_HOME before it uses the path as a key.
    paths = dict.fromkeys((path, os.path.realpath(path)))
    for event, groups in settings.get("hooks", {}).items():
        for group_number, group in enumerate(groups):
            hooks = group.get("hooks") if isinstance(group, dict) else None
            for number, hook in enumerate(hooks if isinstance(hooks, list) else ()):
                if runs_our_command(hook):
                    suffix = f"{to_snake_case(event)}:{group_number}:{number}"
                    keys = [f"{file}:{suffix}" for file in paths]
                    state: Any = next((states[key] for key in keys if key in states), {})
                    yield HookTrust(event, _status(state, hook_checksum(event, group, hook)))


def _status(state: Any, checksum: str) -> TrustStatus:
    state = state if isinstance(state, dict) else {}
    if state.get("enabled") is False:
        return "disabled"
    if "trusted_hash" not in state:
        return "untrusted"
    return "trusted" if state["trusted_hash"] == checksum else "modified"


def hook_checksum(event: str, group: dict[str, Any], hook: dict[str, Any]) -> str:
    """Compute the checksum that Codex compares: of the hook in a normal form, without its file."""
    at_session_end = event == "SessionEnd"
    default = DEFAULT_SESSION_END_TIMEOUT_SECONDS if at_session_end else DEFAULT_TIMEOUT_SECONDS
    timeout = hook.get("timeout") or default
    normalized = {
        "type": "command",
        "command": hook["command"],
        "timeout": min(timeout, MAX_SESSION_END_TIMEOUT_SECONDS) if at_session_end else timeout,
        "async": hook.get("async") is True,
    }
    identity: dict[str, Any] = {"event_name": to_snake_case(event), "hooks": [normalized]}
    if isinstance(group.get("matcher"), str):
        identity["matcher"] = group["matcher"]
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()}"


def hooks_are_disabled(config: dict[str, Any]) -> bool:
    """Return whether the configuration switches all hooks off."""
    features = _table(config, "features")
    return features.get("hooks", features.get("codex_hooks")) is False


def _table(value: dict[str, Any], name: str) -> dict[str, Any]:
    table = value.get(name)
    return table if isinstance(table, dict) else {}


def to_snake_case(event: str) -> str:
    """Return an event's name as Codex writes it in its configuration."""
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in event).lstrip("_")
