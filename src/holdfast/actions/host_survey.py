"""Which hosts are on this machine, and what Holdfast can do, does and did there."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast import hosts
from holdfast.actions import install_record, settings_file
from holdfast.actions.client import client
from holdfast.errors import SettingsFileUnusable
from holdfast.hosts import claude_code

if TYPE_CHECKING:
    from holdfast.hosts.base import Host
    from holdfast.store.base import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    name: str
    title: str
    found: bool
    """Whether its client or its settings are here."""
    program: str
    version: str
    installed: list[str]
    """The files that name our hooks."""
    support: dict[str, str]
    """How each ability was tested; nothing where the host has no such thing."""
    last_fired: float | None


def survey(environ: Mapping[str, str], folder: str, home: str, store: Store) -> list[Survey]:
    """Every host that Holdfast knows."""
    fired: dict[str, float] = {}
    for row in store.hooks_seen():
        fired[row["host"]] = max(row["last_at"], fired.get(row["host"], 0.0))
    return [_one(host, environ, folder, home, fired.get(host.NAME)) for host in hosts.every()]


def _one(
    host: Host, environ: Mapping[str, str], folder: str, home: str, fired: float | None
) -> Survey:
    path, version = client(environ, host)
    return Survey(
        name=host.NAME,
        title=host.TITLE,
        found=bool(path) or is_set_up(host, environ, home),
        program=path,
        version=version,
        installed=[*installed(host, environ, folder, home)],
        support={**host.SUPPORT},
        last_fired=fired,
    )


def is_set_up(host: Host, environ: Mapping[str, str], home: str) -> bool:
    """Whether the folder of the host's own settings is there, and not because we made it."""
    path = os.path.realpath(host.settings_path(environ, None))
    record = install_record.known(home, path)
    made = record.folders if record else ()
    return os.path.isdir(os.path.dirname(path)) and os.path.dirname(path) not in made


def installed(host: Host, environ: Mapping[str, str], folder: str, home: str) -> Iterator[str]:
    """The files of this host that name our hooks: the user's, this folder's, and known others."""
    here = [host.settings_path(environ, folder, local) for local in (False, True)]
    listed = (host.settings_path(environ, None), *here, *install_record.paths(home, host.NAME))
    for path in dict.fromkeys(map(os.path.realpath, listed)):
        try:
            text = settings_file.read(path) or ""
        except SettingsFileUnusable:
            continue
        if claude_code.OURS in text:
            yield path


def with_hooks(environ: Mapping[str, str], folder: str, home: str) -> list[Host]:
    """The hosts that run hooks of ours."""
    return [host for host in hosts.every() if any(installed(host, environ, folder, home))]


def others(environ: Mapping[str, str], chosen: str) -> list[tuple[Host, str]]:
    """Hosts besides the chosen one whose client is here and that know no hooks of ours yet."""
    found = []
    for host in hosts.every():
        path, version = client(environ, host) if chosen != host.NAME else ("", "")
        if path and not host.is_installed(environ, ""):
            found.append((host, version))
    return found
