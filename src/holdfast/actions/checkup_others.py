"""Whether our hooks in the settings of other hosts can work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from holdfast import hosts
from holdfast.actions import settings_file
from holdfast.actions.checkup_hooks import AGAIN, broken_because
from holdfast.actions.finding import Finding
from holdfast.actions.host_survey import installed
from holdfast.errors import HoldfastError
from holdfast.hosts import claude_code, codex, hook_settings
from holdfast.hosts.base import Host

# These have checks of their own.
KNOWN_BETTER = (claude_code.NAME, codex.NAME)


def other_hooks(environ: Mapping[str, str], folder: str, home: str) -> Iterator[Finding]:
    """One sentence for each file that names our hooks; nothing where there is none."""
    for host in hosts.every():
        for path in installed(host, environ, folder, home) if _is_other(host) else ():
            yield _in_file(host, path)


def _is_other(host: Host) -> bool:
    return host.NAME not in KNOWN_BETTER


def _in_file(host: Host, path: str) -> Finding:
    name, hint = f"{host.TITLE} hooks", f"{AGAIN} with --host {host.NAME}"
    try:
        ours = hook_settings.registered(hook_settings.parse(settings_file.read(path) or "", path))
    except HoldfastError as problem:
        return Finding(name=name, status="fail", detail=str(problem), hint=problem.hint)
    commands = [command for listed in ours.values() for command in listed]
    if why := next(filter(None, map(broken_because, commands)), ""):
        return Finding(name=name, status="fail", detail=f"{path}: {why}", hint=hint)
    if missing := [event for event in host.events_for(None) if event not in ours]:
        detail = f"{path}: missing {', '.join(missing)}"
        return Finding(name=name, status="warn", detail=detail, hint=hint)
    return Finding(name=name, status="ok", detail=f"{path}: {len(ours)} events")
