"""Look at an installation from outside: every silent failure becomes a sentence."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from holdfast import log
from holdfast.actions import install
from holdfast.errors import HoldfastError
from holdfast.hosts import claude_code, hook_settings
from holdfast.settings import Settings
from holdfast.store.sqlite import SQLiteStore

LATELY = 7 * 86400


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    name: str
    status: Literal["ok", "warn", "fail", "info"]
    detail: str
    hint: str = ""


def checkup(
    environ: Mapping[str, str], folder: str, settings: Settings, now: float
) -> list[Finding]:
    """Everything there is to say, most important first."""
    return [
        *_client(environ),
        *_installed(environ, folder, settings),
        *_settings(settings),
        *_store(settings, now),
        *_log(settings, environ),
    ]


def _client(environ: Mapping[str, str]) -> Iterator[Finding]:
    path, version = install.client(environ)
    if not path:
        yield Finding(
            name="Claude Code", status="warn", detail="`claude` is not on the PATH",
            hint="install it, or set HOLDFAST_CLAUDE to its path",
        )  # fmt: skip
    elif not version:
        yield Finding(name="Claude Code", status="warn", detail=f"{path} tells no version")
    else:
        yield Finding(name="Claude Code", status="ok", detail=f"{version} at {path}")


def _installed(environ: Mapping[str, str], folder: str, settings: Settings) -> Iterator[Finding]:
    user = claude_code.settings_path(environ, None)
    here = [claude_code.settings_path(environ, folder, local) for local in (False, True)]
    paths = dict.fromkeys([user, *here, *install.records(settings.home)])
    found = [finding for path in paths for finding in _hooks_in(path, environ)]
    yield from found
    if not found:
        yield Finding(
            name="hooks", status="warn", detail="not installed for this user or folder",
            hint="run `holdfast install`",
        )  # fmt: skip
    elif sum(finding.status != "fail" for finding in found) > 1:
        yield Finding(
            name="hooks", status="info", detail="installed in several files",
            hint="the host runs identical hooks once; different ones would double the brief",
        )  # fmt: skip


def _hooks_in(path: str, environ: Mapping[str, str]) -> Iterator[Finding]:
    if not os.path.exists(path):
        return
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            ours = hook_settings.registered(hook_settings.parse(file.read(), path))
    except (OSError, HoldfastError) as problem:
        yield Finding(name="hooks", status="fail", detail=str(problem))
        return
    if not ours:
        return
    wanted = claude_code.events_for(install.numbers(install.client(environ)[1]))
    missing = [event for event in wanted if event not in ours]
    strange = [event for event in ours if event not in wanted]
    broken = next(filter(None, (_broken(c) for cs in ours.values() for c in cs)), "")
    if broken:
        yield Finding(
            name="hooks", status="fail", detail=f"{path}: {broken}", hint="run `holdfast install`"
        )
    elif missing or strange:
        words = f"missing {', '.join(missing)}" if missing else f"unknown {', '.join(strange)}"
        yield Finding(
            name="hooks", status="warn", detail=f"{path}: {words} for this client",
            hint="run `holdfast install` again",
        )  # fmt: skip
    else:
        yield Finding(name="hooks", status="ok", detail=f"{path}: {len(ours)} events")


def _broken(command: str) -> str:
    """Why this command cannot work any more, if it cannot."""
    try:
        words = shlex.split(command)
    except ValueError:
        return "the command is not a shell command"
    if not words or not os.access(words[0], os.X_OK):
        return f"the interpreter {words[0] if words else ''} is gone"
    folder = words[-1].partition("sys.path.append('")[2].partition("')")[0]
    if folder and not os.path.isdir(os.path.join(folder, "holdfast")):
        return f"holdfast is no longer in {folder}"
    return ""


def _settings(settings: Settings) -> Iterator[Finding]:
    for problem in settings.problems:
        yield Finding(name="settings", status="warn", detail=problem)


def _store(settings: Settings, now: float) -> Iterator[Finding]:
    if not os.path.exists(settings.database):
        yield Finding(name="store", status="info", detail=f"none yet at {settings.database}")
        return
    try:
        store = SQLiteStore(settings.database)
        yield Finding(name="store", status="ok", detail=settings.database)
        yield from _modes(settings)
        yield from _fired(store, now)
        yield from _arrived(store)
        yield from _bad_lines(store)
        store.close()
    except HoldfastError as problem:
        yield Finding(name="store", status="fail", detail=str(problem), hint=problem.hint)
    for name in sorted(os.listdir(settings.home)):
        if ".damaged-" in name and not name.endswith(("-wal", "-shm")):
            yield Finding(
                name="store", status="warn", detail=f"a damaged store was set aside: {name}",
                hint="`sqlite3 FILE .recover` may read it; delete it when it is not needed",
            )  # fmt: skip


def _modes(settings: Settings) -> Iterator[Finding]:
    for path in (settings.home, settings.database):
        mode = stat.S_IMODE(os.stat(path).st_mode)
        if os.name == "posix" and mode & 0o077:
            yield Finding(
                name="store", status="warn", detail=f"{path} can be read by others ({mode:o})",
                hint=f"chmod go-rwx {path}",
            )  # fmt: skip


def _fired(store: SQLiteStore, now: float) -> Iterator[Finding]:
    seen = store.hooks_seen()
    if not seen:
        yield Finding(name="hooks fired", status="info", detail="none yet")
        return
    lately = [row for row in seen if now - row["last_at"] < LATELY]
    listed = ", ".join(f"{row['event']} {row['times']}×" for row in lately)
    yield Finding(
        name="hooks fired",
        status="ok" if lately else "warn",
        detail=listed or f"none for {int((now - seen[0]['last_at']) / 86400)} days",
    )


def _arrived(store: SQLiteStore) -> Iterator[Finding]:
    rows = [row for session in store.sessions(None, 50) for row in store.compactions(session["id"])]
    sent = [row for row in rows if row["brief_id"]]
    if not sent:
        yield Finding(name="briefs", status="info", detail="none sent yet")
        return
    lost = [row for row in sent if row["receipt"] in ("never", "cut", "twice")]
    whole = sum(row["receipt"] == "whole" for row in sent)
    detail = f"{whole} of {len(sent)} arrived whole"
    for row in lost[:3]:
        detail += f"; {row['receipt']} in {row['session']} (compaction {row['ordinal']})"
    yield Finding(
        name="briefs",
        status="warn" if lost else "ok",
        detail=detail,
        hint="`holdfast brief` shows what should have been there" if lost else "",
    )


def _bad_lines(store: SQLiteStore) -> Iterator[Finding]:
    for session in store.sessions(None, 50):
        if bad := session["state"]["bad_lines"]:
            listed = ", ".join(map(str, bad[:5]))
            yield Finding(
                name="transcript", status="info",
                detail=f"{session['transcript']}: unreadable lines were skipped ({listed})",
            )  # fmt: skip


def _log(settings: Settings, environ: Mapping[str, str]) -> Iterator[Finding]:
    for path in (settings.log, log.fallback(environ)):
        lines = log.tail(path, 5)
        if lines:
            yield Finding(
                name="log", status="warn", detail=f"{path}, last {len(lines)}:",
                hint="\n    ".join(lines),
            )  # fmt: skip
