"""Check an installation for `holdfast doctor`: every silent failure becomes a finding."""

from __future__ import annotations

import os
import platform
import stat
from collections.abc import Iterator, Mapping
from datetime import datetime

import holdfast
from holdfast import diagnostics, trust
from holdfast.errors import HoldfastError
from holdfast.services.doctor.brief_checks import check_briefs
from holdfast.services.doctor.database_checks import check_databases, find_set_aside
from holdfast.services.doctor.hook_checks import RECENT_SECONDS, Finding, check_claude_hooks
from holdfast.services.doctor.host_checks import check_codex_hooks, check_other_hooks
from holdfast.services.install.client_version import find_client
from holdfast.services.projects import find_project
from holdfast.settings import Settings
from holdfast.store.dsn import find_team_url
from holdfast.store.sqlite import SQLiteStore

__all__ = ["Finding", "run_checks"]

LOG_LINES = 5
# A transcript larger than this must hold at least one message.
MIN_MESSAGE_BYTES = 4096


def run_checks(
    environ: Mapping[str, str], folder: str, settings: Settings, now: float
) -> list[Finding]:
    """Run all checks and return their findings, most important first."""
    path, version = find_client(environ)
    return [
        *_check_client(path, version),
        *check_claude_hooks(environ, folder, settings.home, version),
        *check_codex_hooks(environ, folder),
        *check_other_hooks(environ, folder, settings.home),
        *_check_settings(settings, folder),
        *_check_store(settings, now),
        *_check_team(environ),
        *_check_log(settings, environ, now),
        *_describe_installation(),
    ]


def _check_client(path: str, version: str) -> Iterator[Finding]:
    if not path:
        yield Finding(
            name="Claude Code", status="warn", detail="`claude` is not on the PATH",
            hint="install it, or set HOLDFAST_CLAUDE to its path",
        )  # fmt: skip
    elif not version:
        yield Finding(
            name="Claude Code", status="warn", detail=f"{path} prints no version",
            hint=f"`{path} --version` should; until then only the events of every version are used",
        )  # fmt: skip
    else:
        yield Finding(name="Claude Code", status="ok", detail=f"{version} at {path}")


def _check_settings(settings: Settings, folder: str) -> Iterator[Finding]:
    for problem in settings.problems:
        yield Finding(name="settings", status="warn", detail=problem)
    for project in dict.fromkeys((find_project(folder), os.path.realpath(folder))):
        if not (files := trust.list_files(project)):
            continue
        names = ", ".join(os.path.relpath(path, project) for path in files)
        if trust.is_trusted(settings.home, project):
            yield Finding(name="project", status="ok", detail=f"trusted and in force: {names}")
        else:
            yield Finding(
                name="project", status="warn", detail=f"not trusted, so not in force: {names}",
                hint="`holdfast trust` shows them and asks",
            )  # fmt: skip


def _check_store(settings: Settings, now: float) -> Iterator[Finding]:
    findings = [*check_databases(settings)]
    yield from findings
    # A store with a problem is not opened: that could change it, or fail again.
    is_usable = all(finding.status != "fail" for finding in findings)
    if is_usable and os.path.exists(settings.database):
        try:
            store = SQLiteStore(settings.database)
            try:
                yield from _check_modes(settings)
                yield from _check_fired(store, now)
                yield from check_briefs(store, now)
                yield from _check_transcripts(store)
            finally:
                store.close()
        except HoldfastError as problem:
            yield Finding(name="store", status="fail", detail=str(problem), hint=problem.hint)
    yield from find_set_aside(settings.home)


def _check_team(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Check that the team database answers; its address is shown without secrets."""
    try:
        if url := find_team_url(environ):
            from holdfast.store.postgres import Postgres

            postgres = Postgres(url, max_connections=1)
            postgres.close()
            yield Finding(name="team store", status="ok", detail=postgres.display_url)
    except HoldfastError as problem:
        yield Finding(name="team store", status="fail", detail=str(problem), hint=problem.hint)


def _check_modes(settings: Settings) -> Iterator[Finding]:
    for path in (settings.home, settings.database):
        mode = stat.S_IMODE(os.stat(path).st_mode)
        if os.name == "posix" and mode & 0o077:
            yield Finding(
                name="store", status="warn", detail=f"{path} can be read by others ({mode:o})",
                hint=f"chmod go-rwx {path}",
            )  # fmt: skip


def _check_fired(store: SQLiteStore, now: float) -> Iterator[Finding]:
    seen = store.hook_runs()
    if not seen:
        yield Finding(name="hooks fired", status="info", detail="none yet")
        return
    lately = [row for row in seen if now - row["last_at"] < RECENT_SECONDS]
    listed = ", ".join(f"{row['event']} {row['times']}×" for row in lately)
    last = max(row["last_at"] for row in seen)
    yield Finding(
        name="hooks fired",
        status="ok" if lately else "warn",
        detail=listed or f"none for {int((now - last) / 86400)} days",
    )


def _not_understood(path: str) -> Finding:
    return Finding(
        name="transcript", status="warn",
        detail=f"{path}: nothing in it was understood; the host may have changed its format",
        hint="`holdfast show L1` shows its first line; a newer Holdfast may know it",
    )  # fmt: skip


def _is_large(path: str) -> bool:
    try:
        return os.path.getsize(path) > MIN_MESSAGE_BYTES
    except (OSError, ValueError):
        return False


def _check_transcripts(store: SQLiteStore) -> Iterator[Finding]:
    for session in store.sessions(None, 50):
        if not session["state"]["lines"] and _is_large(session["transcript"]):
            yield _not_understood(session["transcript"])
        if bad := session["state"]["bad_lines"]:
            listed = ", ".join(map(str, bad[:5]))
            yield Finding(
                name="transcript", status="info",
                detail=f"{session['transcript']}: unreadable lines were skipped ({listed})",
            )  # fmt: skip


def _check_log(settings: Settings, environ: Mapping[str, str], now: float) -> Iterator[Finding]:
    for path in (settings.log, diagnostics.fallback_path(environ)):
        if lines := diagnostics.read_tail(path, LOG_LINES):
            lately = any(_is_recent(line, now) for line in lines)
            yield Finding(
                name="log", status="warn" if lately else "info", hint="\n".join(lines),
                detail=f"{path}, last lines" + ("" if lately else " (none of the last 7 days)"),
            )  # fmt: skip


def _is_recent(line: str, now: float) -> bool:
    """Whether a log line is recent; a line without a time counts, so that it is not missed."""
    try:
        return now - datetime.fromisoformat(line.split(" ")[0]).timestamp() < RECENT_SECONDS
    except ValueError:
        return True


def _describe_installation() -> Iterator[Finding]:
    folder = os.path.dirname(os.path.abspath(holdfast.__file__))
    detail = f"{holdfast.__version__} in {folder}, Python {platform.python_version()}"
    yield Finding(name="holdfast", status="info", detail=detail)
