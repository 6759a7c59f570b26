"""Register our hooks with a host, and take them out again without a trace."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import holdfast
from holdfast.errors import SettingsFileUnusable
from holdfast.hosts import claude_code, hook_settings
from holdfast.hosts.json_text import Splice

TIMEOUT = 15
RECORDED = {"path", "existed", "before", "after", "splices"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What an install or uninstall does to one file."""

    path: str
    before: str | None
    after: str | None
    events: tuple[str, ...] = ()
    version: str = ""
    note: str = ""
    clean: str | None = None
    """What the file is, or was, without us."""
    splices: tuple[Splice, ...] = ()

    @property
    def is_needed(self) -> bool:
        return self.before != self.after


def client(environ: Mapping[str, str]) -> tuple[str, str]:
    """Where Claude Code is and which version, or two empty strings."""
    path = environ.get("HOLDFAST_CLAUDE") or shutil.which("claude", path=environ.get("PATH")) or ""
    if not path:
        return "", ""
    try:
        told = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return path, ""
    words = told.stdout.split()
    return path, words[0] if words and words[0][:1].isdigit() else ""


def numbers(version: str) -> tuple[int, ...] | None:
    parts = version.split("-")[0].split(".")
    return tuple(map(int, parts)) if all(part.isdigit() for part in parts) else None


def hook_command() -> str:
    """The fastest form that is safe: see docs/why/hooks.md.

    `-I -S` skips site and every .pth file; `-c` makes a vanished package exit 1, where a missing
    script would exit 2 and block the host.
    """
    folder = os.path.dirname(os.path.dirname(os.path.abspath(holdfast.__file__)))
    program = f"import sys; sys.path.append({folder!r}); " + (
        "from holdfast.surfaces.hook import main; main()"
    )
    return f"{shlex.quote(sys.executable)} -I -S -c {shlex.quote(program)}"


def plan_install(path: str, version: str, home: str) -> Change:
    """What installing would do; nothing is written."""
    before = _read(path)
    present = hook_settings.registered(hook_settings.parse(before or "", path))
    command = hook_command()
    events = claude_code.events_for(numbers(version))
    plan = Change(path=path, before=before, after=before, events=tuple(events), version=version)
    if present == {event: [command] for event in events}:
        return plan
    wanted = {
        event: hook_settings.entry(command, None if event == "SessionEnd" else TIMEOUT)
        for event in events
    }
    # Entries of an earlier install go first, so that they are never doubled.
    clean = plan_uninstall(path, home).after if present else before
    after, splices = hook_settings.add(clean or "", wanted)
    hook_settings.parse(after, path)
    return replace(plan, after=after, clean=clean, splices=tuple(splices))


def install(change: Change, home: str) -> None:
    """Write the file, and remember how to undo it exactly."""
    if not change.is_needed or change.after is None:
        return
    record = _record(home, change.path)
    told = {
        "path": change.path,
        "existed": change.clean is not None,
        "before": _digest(change.clean or ""),
        "after": _digest(change.after),
        "splices": change.splices,
    }
    os.makedirs(os.path.dirname(record), mode=0o700, exist_ok=True)
    _write(record, json.dumps(told, indent=1) + "\n", mode=0o600)
    _write(change.path, change.after)


def plan_uninstall(path: str, home: str) -> Change:
    """What uninstalling would do: exact if nobody changed the file since, else entry by entry."""
    before = _read(path)
    if before is None:
        return Change(path=path, before=None, after=None)
    events = tuple(hook_settings.registered(hook_settings.parse(before, path)))
    plan = Change(
        path=path, before=before, after=hook_settings.take_out(before), events=events,
        note="others changed the file since, so only our entries go",
    )  # fmt: skip
    known = _known(_record(home, path))
    if known is None or _digest(before) != known["after"]:
        return plan
    if not known["existed"]:
        return replace(plan, after=None, note="the install made this file, so it goes")
    original = before
    for splice in reversed(known["splices"]):
        original = Splice(*splice).undo(original)
    if _digest(original) != known["before"]:
        return plan
    return replace(plan, after=original, note="as it was, byte for byte")


def uninstall(change: Change, home: str) -> None:
    if change.is_needed:
        if change.after is None:
            os.unlink(change.path)
        else:
            _write(change.path, change.after)
    record = _record(home, change.path)
    if os.path.exists(record):
        os.unlink(record)


def _record(home: str, path: str) -> str:
    name = hashlib.sha256(os.path.realpath(path).encode()).hexdigest()[:16]
    return os.path.join(home, "installed", f"{name}.json")


def _known(record: str) -> dict[str, Any] | None:
    try:
        with open(record, encoding="utf-8") as file:
            told = json.load(file)
    except (OSError, ValueError):
        return None
    return told if isinstance(told, dict) and set(told) >= RECORDED else None


def records(home: str) -> list[str]:
    """The settings files that Holdfast is installed in, as far as it remembers."""
    folder = os.path.join(home, "installed")
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    told = (_known(os.path.join(folder, name)) for name in names)
    return [str(known["path"]) for known in told if known]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _read(path: str) -> str | None:
    try:
        # No newline translation: what is written back must be the same bytes.
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise SettingsFileUnusable(f"{path} ({problem.strerror})") from None


def _write(path: str, text: str, mode: int | None = None) -> None:
    """All or nothing, through a symbolic link, with the mode that the file had."""
    target = os.path.realpath(path)
    fresh = f"{target}.holdfast-{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if mode is None:
            mode = os.stat(target).st_mode & 0o777 if os.path.exists(target) else 0o644
        if os.path.exists(target) and not os.access(target, os.W_OK):
            raise PermissionError(13, "Permission denied")
        with open(fresh, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(fresh, mode)
        os.replace(fresh, target)
    except OSError as problem:
        if os.path.exists(fresh):
            os.unlink(fresh)
        raise SettingsFileUnusable(
            f"{path} ({problem.strerror})", hint="check who owns the file and its folder"
        ) from None
