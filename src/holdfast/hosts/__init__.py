"""The coding agents that call Holdfast: one adapter module per host.

The adapter is the module itself; `base.Host` lists what each one defines.
"""

from __future__ import annotations

from holdfast.errors import HoldfastError
from holdfast.hosts import claude_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from holdfast.hosts.base import Host

# name -> module. Only the module that is needed is imported, because a hook is a fresh process.
HOSTS = {
    "claude-code": "claude_code",
    "codex": "codex",
    "droid": "droid",
    "deepagents": "deepagents",
    "gemini": "gemini",
    "copilot": "copilot",
    "cursor": "cursor",
}

# Hosts set one of these for the commands that their agent runs.
SESSION_ID_VARIABLES = ("CLAUDE_CODE_SESSION_ID", "CODEX_SESSION_ID", "CODEX_THREAD_ID")


def calling_session(environ: Mapping[str, str]) -> str | None:
    """Return the id of the session whose agent runs this process, or None."""
    return next((environ[name] for name in SESSION_ID_VARIABLES if environ.get(name)), None)


def find_host(name: str) -> Host | None:
    """Return the adapter of this name, or None."""
    if name == claude_code.NAME:
        return claude_code
    module: Any = HOSTS.get(name) and __import__(f"{__name__}.{HOSTS[name]}", fromlist=("NAME",))
    return module or None


def all_hosts() -> Iterator[Host]:
    """Yield every adapter; this imports all of them."""
    for name in HOSTS:
        host = find_host(name)
        assert host is not None
        yield host


def detect_host(payload: dict[str, Any]) -> Host | None:
    """Return the host that sends payloads with these fields, or None.

    Raises HoldfastError if several hosts could have sent it.
    """
    if claude_code.recognizes(payload):
        return claude_code
    matches = [host for host in all_hosts() if host.recognizes(payload)]
    if len(matches) > 1:
        titles = " and of ".join(host.TITLE for host in matches)
        raise HoldfastError(f"the payload has fields of {titles}")
    return matches[0] if matches else None
