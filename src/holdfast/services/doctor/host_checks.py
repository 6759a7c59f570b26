"""Check the Holdfast hooks in the settings of Codex and of other hosts than Claude Code."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast import hosts
from holdfast.errors import HoldfastError
from holdfast.hosts import claude_code, codex, codex_trust, hook_settings
from holdfast.hosts.base import Host
from holdfast.services.doctor.hook_checks import REINSTALL_HINT, Finding, find_command_problem
from holdfast.services.install import atomic_file
from holdfast.services.install.client_version import find_client
from holdfast.services.install.host_survey import find_installed_files

HOSTS_WITH_OWN_CHECKS = (claude_code.NAME, codex.NAME)
TRUST_HINT = (
    "start `codex` and trust them in the review that it shows first, or later with /hooks; until\n"
    "then it skips them silently (`codex exec` shows no review at all)"
)
CODEX_REINSTALL_HINT = f"{REINSTALL_HINT} with --host codex"
TRUST_PROBLEMS = {
    "untrusted": "not trusted yet, so Codex skips them",
    "modified": "changed since they were trusted, so Codex skips them",
    "disabled": "switched off in Codex",
}


def check_codex_hooks(environ: Mapping[str, str], folder: str) -> Iterator[Finding]:
    """Yield findings if Codex is or was set up here; otherwise nothing."""
    path, version = find_client(environ, codex)
    listed = [codex.settings_path(environ, None), codex.settings_path(environ, folder)]
    # In the home folder, the user's and the project's settings are the same file.
    files = {os.path.realpath(file): file for file in reversed(listed)}
    findings = [
        finding for file in reversed(files.values()) for finding in _check_codex_file(file, environ)
    ]
    if path:
        detail = f"{version or 'of an unknown version'} at {path}"
        yield Finding(name=codex.TITLE, status="ok", detail=detail)
    elif findings:
        yield Finding(
            name=codex.TITLE, status="warn", detail="`codex` is not on the PATH",
            hint="install it, or set HOLDFAST_CODEX to its path",
        )  # fmt: skip
    yield from findings
    if path and not findings:
        yield Finding(
            name="Codex hooks", status="info", detail="not installed for this user or folder",
            hint="run `holdfast install --host codex`",
        )  # fmt: skip


def _check_codex_file(path: str, environ: Mapping[str, str]) -> Iterator[Finding]:
    try:
        settings = hook_settings.parse_settings(atomic_file.read(path) or "", path)
        ours = hook_settings.find_our_entries(settings)
        config = _load_codex_config(environ) if ours else {}
    except HoldfastError as problem:
        yield _codex_finding("fail", str(problem), problem.hint)
        return
    if not ours:
        return
    problems = [*_find_codex_problems(path, settings, ours, config)]
    yield from problems
    if not problems:
        yield _codex_finding("ok", f"{path}: {len(ours)} events, all trusted")


def _find_codex_problems(
    path: str, settings: dict[str, Any], ours: dict[str, list[str]], config: dict[str, Any]
) -> Iterator[Finding]:
    commands = [command for listed in ours.values() for command in listed]
    broken = dict.fromkeys(filter(None, map(find_command_problem, commands)))
    for why in broken:
        yield _codex_finding("fail", f"{path}: {why}", CODEX_REINSTALL_HINT)
    if missing := [event for event in codex.EVENTS if event not in ours]:
        yield _codex_finding("warn", f"{path}: missing {', '.join(missing)}", CODEX_REINSTALL_HINT)
    if codex_trust.hooks_are_disabled(config):
        yield _codex_finding(
            "fail", "hooks are switched off", "remove `hooks = false` from config.toml"
        )
    states = [*codex_trust.hook_trust(path, settings, config)]
    for status, words in TRUST_PROBLEMS.items():
        if events := [hook.event for hook in states if hook.status == status]:
            yield _codex_finding("fail", f"{path}: {', '.join(events)} {words}", TRUST_HINT)


def _load_codex_config(environ: Mapping[str, str]) -> dict[str, Any]:
    path = os.path.join(codex.config_folder(environ), "config.toml")
    try:
        return tomllib.loads(atomic_file.read(path) or "")
    except tomllib.TOMLDecodeError as problem:
        raise HoldfastError(f"{path} is not TOML ({problem})", hint="correct it by hand") from None


def _codex_finding(status: Any, detail: str, hint: str = "") -> Finding:
    return Finding(name="Codex hooks", status=status, detail=detail, hint=hint)


def check_other_hooks(environ: Mapping[str, str], folder: str, home: str) -> Iterator[Finding]:
    """Yield a finding for each settings file that has Holdfast hooks."""
    for host in hosts.all_hosts():
        if host.NAME in HOSTS_WITH_OWN_CHECKS:
            continue
        for path in find_installed_files(host, environ, folder, home):
            yield _check_file(host, path)


def _check_file(host: Host, path: str) -> Finding:
    name, hint = f"{host.TITLE} hooks", f"{REINSTALL_HINT} with --host {host.NAME}"
    try:
        ours = hook_settings.find_our_entries(
            hook_settings.parse_settings(atomic_file.read(path) or "", path)
        )
    except HoldfastError as problem:
        return Finding(name=name, status="fail", detail=str(problem), hint=problem.hint)
    commands = [command for listed in ours.values() for command in listed]
    if why := next(filter(None, map(find_command_problem, commands)), ""):
        return Finding(name=name, status="fail", detail=f"{path}: {why}", hint=hint)
    if surplus := [event for event in ours if event not in host.events_for(None)]:
        detail = f"{path}: {', '.join(surplus)} must not be registered with {host.TITLE}"
        return Finding(name=name, status="fail", detail=detail, hint=hint)
    if missing := [event for event in host.events_for(None) if event not in ours]:
        detail = f"{path}: missing {', '.join(missing)}"
        return Finding(name=name, status="warn", detail=detail, hint=hint)
    return Finding(name=name, status="ok", detail=f"{path}: {len(ours)} events")
