"""The real Claude Code: installed once per version into a cache that all test runs share."""

import shutil
from pathlib import Path

from . import npm
from .requirements import missing

VERSIONS = ("2.1.325", "2.1.197")
OLD_VERSIONS = ("2.1.50", "2.0.14")
PACKAGE = "@anthropic-ai/claude-code"


def required_client(version: str) -> Path:
    """The client's binary, installed if need be; skips or fails where that cannot be done."""
    return npm.required(PACKAGE, version, native_binary)


def native_binary(folder: Path) -> Path:
    """The executable that npm unpacked for this machine; old versions are a script for Node."""
    found = sorted(folder.glob(f"node_modules/{PACKAGE}-linux-*/claude"))
    if not found and shutil.which("node"):
        found = sorted(folder.glob("node_modules/.bin/claude"))
    return found[0] if found else missing(f"{PACKAGE} has no native binary for this machine")
