"""Which hosts are on this machine, what Holdfast supports there, and where it is installed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast import hosts
from holdfast.hosts import hook_entries
from holdfast.services.install import undo_record
from holdfast.services.install.client_version import find_client

if TYPE_CHECKING:
    from holdfast.hosts.base import Host
    from holdfast.store.protocols import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSurvey:
    """One host, as `holdfast hosts` prints it."""

    name: str
    title: str
    found: bool
    """Whether its client or its settings are on this machine."""
    program: str
    version: str
    installed: list[str]
    """The settings files that have Holdfast hooks."""
    support: dict[str, str]
    """How each ability was tested; empty if the host does not have it."""
    last_fired: float | None


def survey_hosts(
    environ: Mapping[str, str], folder: str, home: str, store: Store
) -> list[HostSurvey]:
    """Return a survey of every host that Holdfast supports."""
    last_fired: dict[str, float] = {}
    for row in store.hook_runs():
        last_fired[row["host"]] = max(row["last_at"], last_fired.get(row["host"], 0.0))
    return [
        _survey_host(host, environ, folder, home, last_fired.get(host.NAME))
        for host in hosts.all_hosts()
    ]


def _survey_host(
    host: Host, environ: Mapping[str, str], folder: str, home: str, last_fired: float | None
) -> HostSurvey:
    path, version = find_client(environ, host)
    return HostSurvey(
        name=host.NAME,
        title=host.TITLE,
        found=bool(path) or has_own_settings(host, environ, home),
        program=path,
        version=version,
        installed=[*find_installed_files(host, environ, folder, home)],
        support={**host.SUPPORT},
        last_fired=last_fired,
    )


def has_own_settings(host: Host, environ: Mapping[str, str], home: str) -> bool:
    """Whether the host's settings folder exists, and was not created by an install."""
    path = os.path.realpath(host.settings_path(environ, None))
    record = undo_record.load_record(home, path)
    created = record.folders if record else ()
    return os.path.isdir(os.path.dirname(path)) and os.path.dirname(path) not in created


def find_installed_files(
    host: Host, environ: Mapping[str, str], folder: str, home: str
) -> Iterator[str]:
    """Yield the host's settings files that have Holdfast hooks.

    Looks at the user's, this folder's, and those that an install recorded.
    """
    local_files = [host.settings_path(environ, folder, local) for local in (False, True)]
    listed = (
        host.settings_path(environ, None),
        *local_files,
        *undo_record.list_installed_files(home, host.NAME),
    )
    for path in dict.fromkeys(map(os.path.realpath, listed)):
        if hook_entries.registers_our_hooks(path):
            yield path


def find_hosts_with_hooks(environ: Mapping[str, str], folder: str, home: str) -> list[Host]:
    """Return the hosts that have Holdfast hooks."""
    return [
        host for host in hosts.all_hosts() if any(find_installed_files(host, environ, folder, home))
    ]


def find_other_hosts(environ: Mapping[str, str], host_name: str) -> list[tuple[Host, str]]:
    """Return other hosts whose client is here without Holdfast hooks, with their versions."""
    others = []
    for host in hosts.all_hosts():
        path, version = find_client(environ, host) if host_name != host.NAME else ("", "")
        if path and not host.is_installed(environ, ""):
            others.append((host, version))
    return others
