"""Whether Codex is here, has our hooks, and runs them."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.actions import settings_file
from holdfast.actions.checkup_hooks import AGAIN, broken_because
from holdfast.actions.client import client
from holdfast.actions.finding import Finding
from holdfast.errors import HoldfastError
from holdfast.hosts import codex, codex_trust, hook_settings

HOW_TO_TRUST = (
    "start `codex` and trust them in the review that it shows first, or later with /hooks; until\n"
    "then it skips them without a word (`codex exec` shows no review at all)"
)
REINSTALL = f"{AGAIN} with --host codex"
TOLD = {
    "untrusted": "not trusted yet, so that Codex skips them",
    "modified": "changed since they were trusted, so that Codex skips them",
    "disabled": "switched off in Codex",
}


def codex_hooks(environ: Mapping[str, str], folder: str) -> Iterator[Finding]:
    """What there is to say where Codex is, or was, set up; elsewhere nothing."""
    path, version = client(environ, codex)
    listed = [codex.settings_path(environ, None), codex.settings_path(environ, folder)]
    # Whoever works in his home has one file for both.
    files = {os.path.realpath(file): file for file in reversed(listed)}
    found = [finding for file in reversed(files.values()) for finding in _in_file(file, environ)]
    if path:
        detail = f"{version or 'of a version that it does not tell'} at {path}"
        yield Finding(name=codex.TITLE, status="ok", detail=detail)
    elif found:
        yield Finding(
            name=codex.TITLE, status="warn", detail="`codex` is not on the PATH",
            hint="install it, or set HOLDFAST_CODEX to its path",
        )  # fmt: skip
    yield from found
    if path and not found:
        yield Finding(
            name="Codex hooks", status="info", detail="not installed for this user or folder",
            hint="run `holdfast install --host codex`",
        )  # fmt: skip


def _in_file(path: str, environ: Mapping[str, str]) -> Iterator[Finding]:
    try:
        settings = hook_settings.parse(settings_file.read(path) or "", path)
        ours = hook_settings.registered(settings)
        config = _config(environ) if ours else {}
    except HoldfastError as problem:
        yield _finding("fail", str(problem), problem.hint)
        return
    if not ours:
        return
    problems = [*_problems(path, settings, ours, config)]
    yield from problems
    if not problems:
        yield _finding("ok", f"{path}: {len(ours)} events, all trusted")


def _problems(
    path: str, settings: dict[str, Any], ours: dict[str, list[str]], config: dict[str, Any]
) -> Iterator[Finding]:
    broken = dict.fromkeys(why for cs in ours.values() for c in cs if (why := broken_because(c)))
    for why in broken:
        yield _finding("fail", f"{path}: {why}", REINSTALL)
    if missing := [event for event in codex.EVENTS if event not in ours]:
        yield _finding("warn", f"{path}: missing {', '.join(missing)}", REINSTALL)
    if codex_trust.are_off(config):
        yield _finding("fail", "hooks are switched off", "take `hooks = false` out of config.toml")
    states = [*codex_trust.states(path, settings, config)]
    for status, words in TOLD.items():
        if events := [hook.event for hook in states if hook.status == status]:
            yield _finding("fail", f"{path}: {', '.join(events)} {words}", HOW_TO_TRUST)


def _config(environ: Mapping[str, str]) -> dict[str, Any]:
    path = os.path.join(codex.folder(environ), "config.toml")
    try:
        return tomllib.loads(settings_file.read(path) or "")
    except tomllib.TOMLDecodeError as problem:
        raise HoldfastError(f"{path} is not TOML ({problem})", hint="mend it by hand") from None


def _finding(status: Any, detail: str, hint: str = "") -> Finding:
    return Finding(name="Codex hooks", status=status, detail=detail, hint=hint)
