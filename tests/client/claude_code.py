"""Installs the real Claude Code, once per version, into a cache that all test runs share."""

import shutil
from pathlib import Path

from . import npm
from .requirements import skip_or_fail

VERSIONS = ("2.1.325", "2.1.197")
OLD_VERSIONS = ("2.1.50", "2.0.14")
PACKAGE = "@anthropic-ai/claude-code"


def install_client(version: str) -> Path:
    """Return the client's binary and install it first if needed; skip or fail if that fails."""
    return npm.find_or_install(PACKAGE, version, native_binary)


def native_binary(folder: Path) -> Path:
    """The executable that npm unpacked for this machine; old versions are a script for Node."""
    binaries = sorted(folder.glob(f"node_modules/{PACKAGE}-linux-*/claude"))
    if not binaries and shutil.which("node"):
        binaries = sorted(folder.glob("node_modules/.bin/claude"))
    return (
        binaries[0]
        if binaries
        else skip_or_fail(f"{PACKAGE} has no native binary for this machine")
    )
