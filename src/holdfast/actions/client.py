"""Find a host's client on this machine, and ask it for its version."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping

from holdfast.hosts import claude_code
from holdfast.hosts.base import Host

# `claude --version` answers in a fraction of a second; on a cold, slow disk in a few.
PATIENCE = 10.0
# `2.1.325 (Claude Code)`, `codex-cli 0.166.0`
VERSION = re.compile(
    r"^\s*(?:[a-z]+-cli )?v?(\d{1,9}\.\d{1,9}\.\d{1,9})(?=[\s-]|$)", re.ASCII | re.MULTILINE
)


def client(environ: Mapping[str, str], host: Host = claude_code) -> tuple[str, str]:
    """Where a host's client is and which version, each empty if unknown.

    A variable such as HOLDFAST_CLAUDE goes before the PATH.
    """
    variable = f"HOLDFAST_{host.PROGRAM.upper().replace('-', '_')}"
    given = os.path.expanduser(environ.get(variable, ""))
    path = given or shutil.which(host.PROGRAM, path=environ.get("PATH")) or ""
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
