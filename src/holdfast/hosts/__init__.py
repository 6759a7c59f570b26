"""Who calls us: one module per host, and the module is the adapter."""

from __future__ import annotations

from holdfast.errors import HoldfastError
from holdfast.hosts import claude_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from holdfast.hosts.base import Host

# The modules by name. Only the one that is needed is loaded: a hook is a fresh process.
HOSTS = {
    "claude-code": "claude_code",
    "codex": "codex",
    "droid": "droid",
    "deepagents": "deepagents",
    "gemini": "gemini",
    "copilot": "copilot",
    "cursor": "cursor",
}

# What hosts tell the commands that their agents run: the session that is asking.
CALLING = ("CLAUDE_CODE_SESSION_ID", "CODEX_SESSION_ID", "CODEX_THREAD_ID")


def calling(environ: Mapping[str, str]) -> str | None:
    """The session whose agent runs this process, if one does."""
    return next((environ[name] for name in CALLING if environ.get(name)), None)


def named(name: str) -> Host | None:
    """The host of that name."""
    if name == claude_code.NAME:
        return claude_code
    module: Any = HOSTS.get(name) and __import__(f"{__name__}.{HOSTS[name]}", fromlist=("NAME",))
    return module or None


def every() -> Iterator[Host]:
    for name in HOSTS:
        host = named(name)
        assert host is not None
        yield host


def recognise(payload: dict[str, Any]) -> Host | None:
    """The host that sent this payload, told by the payload alone."""
    if claude_code.recognises(payload):
        return claude_code
    found = [host for host in every() if host.recognises(payload)]
    if len(found) > 1:
        titles = " and of ".join(host.TITLE for host in found)
        raise HoldfastError(f"the payload has fields of {titles}")
    return found[0] if found else None
