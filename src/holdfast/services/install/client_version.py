"""Find a host's client on this machine, and run it for its version."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping

from holdfast.hosts import claude_code
from holdfast.hosts.base import Host

# `claude --version` answers in a fraction of a second; on a cold, slow disk in a few.
VERSION_TIMEOUT_SECONDS = 10.0
# `2.1.325 (Claude Code)`, `codex-cli 0.166.0`
VERSION_PATTERN = re.compile(
    r"^\s*(?:[a-z]+-cli )?v?(\d{1,9}\.\d{1,9}\.\d{1,9})(?=[\s-]|$)", re.ASCII | re.MULTILINE
)


def find_client(environ: Mapping[str, str], host: Host = claude_code) -> tuple[str, str]:
    """Return path and version of a host's client, each empty if unknown.

    A variable such as HOLDFAST_CLAUDE takes precedence over the PATH.
    """
    variable = f"HOLDFAST_{host.PROGRAM.upper().replace('-', '_')}"
    configured = os.path.expanduser(environ.get(variable, ""))
    path = configured or shutil.which(host.PROGRAM, path=environ.get("PATH")) or ""
    return path, _read_version(path, environ) if path else ""


def _read_version(path: str, environ: Mapping[str, str]) -> str:
    try:
        result = subprocess.run(
            [path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, env=environ,
            timeout=VERSION_TIMEOUT_SECONDS, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    versions = VERSION_PATTERN.findall(result.stdout.decode("utf-8", "replace"))
    # If several are printed, the oldest is safe: see the events in hosts/claude_code.py.
    return min(versions, key=lambda version: parse_version(version) or (), default="")


def parse_version(version: str) -> tuple[int, ...] | None:
    """Return a version as numbers to compare, or None if it is not a version."""
    match = VERSION_PATTERN.match(version)
    return tuple(map(int, match[1].split("."))) if match else None
