"""Find Claude Code on this machine, and ask it for its version."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping

# `claude --version` answers in a fraction of a second; on a cold, slow disk in a few.
PATIENCE = 10.0
VERSION = re.compile(r"^\s*v?(\d{1,9}\.\d{1,9}\.\d{1,9})(?=[\s-]|$)", re.ASCII | re.MULTILINE)


def client(environ: Mapping[str, str]) -> tuple[str, str]:
    """Where Claude Code is and which version, each empty if unknown."""
    given = os.path.expanduser(environ.get("HOLDFAST_CLAUDE", ""))
    path = given or shutil.which("claude", path=environ.get("PATH")) or ""
    return path, _version(path, environ) if path else ""


def _version(path: str, environ: Mapping[str, str]) -> str:
    try:
        told = subprocess.run(
            [path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, env=environ,
            timeout=PATIENCE, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    found = VERSION.findall(told.stdout.decode("utf-8", "replace"))
    # If several are named, the oldest is the safe one: see the events in hosts/claude_code.py.
    return min(found, key=lambda version: numbers(version) or (), default="")


def numbers(version: str) -> tuple[int, ...] | None:
    """A version as numbers to compare, or None if it is not one."""
    found = VERSION.match(version)
    return tuple(map(int, found[1].split("."))) if found else None
