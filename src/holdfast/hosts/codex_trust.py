"""Whether Codex runs our hooks: it skips those that nobody has trusted, and says nothing.

A person trusts a hook in Codex, which then notes a checksum of it in `config.toml`, under
`[hooks.state."FILE:EVENT:GROUP:HANDLER"]`. Nothing here writes there: whom to trust is theirs to
say.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from holdfast.hosts.hook_settings import is_ours

Status = Literal["trusted", "untrusted", "modified", "disabled"]
# Seconds, where an entry names none; at the end of a session there are fewer.
DEFAULT_TIMEOUT, AT_END, MOST_AT_END = 600, 1, 3


class Hook(NamedTuple):
    event: str
    status: Status


def states(path: str, settings: dict[str, Any], config: dict[str, Any]) -> Iterator[Hook]:
    """How Codex takes each of our hooks in this list, with that configuration."""
    known = _table(_table(config, "hooks"), "state")
    # An explicit CODEX_HOME is resolved before it becomes part of the name.
    files = dict.fromkeys((path, os.path.realpath(path)))
    for event, groups in settings.get("hooks", {}).items():
        for group, listed in enumerate(groups):
            hooks = listed.get("hooks") if isinstance(listed, dict) else None
            for number, hook in enumerate(hooks if isinstance(hooks, list) else ()):
                if is_ours(hook):
                    names = [f"{file}:{snake(event)}:{group}:{number}" for file in files]
                    said: Any = next((known[name] for name in names if name in known), {})
                    yield Hook(event, _status(said, checksum(event, listed, hook)))


def _status(said: Any, current: str) -> Status:
    said = said if isinstance(said, dict) else {}
    if said.get("enabled") is False:
        return "disabled"
    if "trusted_hash" not in said:
        return "untrusted"
    return "trusted" if said["trusted_hash"] == current else "modified"


def checksum(event: str, listed: dict[str, Any], hook: dict[str, Any]) -> str:
    """What Codex compares: the entry in a normal form, whichever file it stands in."""
    ends = event == "SessionEnd"
    timeout = hook.get("timeout") or (AT_END if ends else DEFAULT_TIMEOUT)
    normal = {
        "type": "command",
        "command": hook["command"],
        "timeout": min(timeout, MOST_AT_END) if ends else timeout,
        "async": hook.get("async") is True,
    }
    identity: dict[str, Any] = {"event_name": snake(event), "hooks": [normal]}
    if isinstance(listed.get("matcher"), str):
        identity["matcher"] = listed["matcher"]
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()}"


def are_off(config: dict[str, Any]) -> bool:
    """Whether the configuration switches all hooks off."""
    features = _table(config, "features")
    return features.get("hooks", features.get("codex_hooks")) is False


def _table(value: dict[str, Any], name: str) -> dict[str, Any]:
    inner = value.get(name)
    return inner if isinstance(inner, dict) else {}


def snake(event: str) -> str:
    """An event as Codex names it in its configuration."""
    return "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in event).lstrip("_")
