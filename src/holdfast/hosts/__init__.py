"""Who calls us: one module per host, and the module is the adapter."""

from __future__ import annotations

from holdfast.hosts import claude_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.hosts.base import Host

HOSTS: tuple[Host, ...] = (claude_code,)


def recognise(payload: dict[str, Any]) -> Host | None:
    """The host that sent this payload, told by the payload alone."""
    return next((host for host in HOSTS if host.recognises(payload)), None)


def named(name: str) -> Host | None:
    return next((host for host in HOSTS if name == host.NAME), None)
