"""The real Claude Code: installed once per version into a cache that all test runs share."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from .commands import CommandError, output_of
from .requirements import missing, no_namespace_because

VERSIONS = ("2.1.325", "2.1.197")
OLD_VERSIONS = ("2.1.50", "2.0.14")
PACKAGE = "@anthropic-ai/claude-code"
INSTALL_SECONDS = 300


def required_client(version: str) -> Path:
    """The client's binary, installed if need be; skips or fails where that cannot be done."""
    if sys.platform != "linux":
        missing("the client runs in a network namespace, which only Linux has")
    import fcntl  # not on every system, and a test that is skipped must still be collected

    if reason := no_namespace_because():
        missing(f"no network namespace: {reason}")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "holdfast-tests")
    cache.mkdir(parents=True, exist_ok=True)
    folder = cache / f"claude-code-{version}"
    with (cache / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two workers must not install at once
        if not folder.exists():
            install(version, folder)
    return native_binary(folder)


def install(version: str, folder: Path) -> None:
    """Install one version; the folder appears only when it is whole."""
    npm = shutil.which("npm") or missing("npm is not installed")
    with tempfile.TemporaryDirectory(dir=folder.parent) as parent:
        unfinished = Path(parent, folder.name)
        command = [npm, "install", "--no-fund", "--no-audit", "--loglevel=error"]
        command += ["--prefix", str(unfinished), f"{PACKAGE}@{version}"]
        try:
            output_of(command, seconds=INSTALL_SECONDS)
        except CommandError as error:
            missing(f"npm could not install the client: {error}")
        native_binary(unfinished)
        unfinished.rename(folder)


def native_binary(folder: Path) -> Path:
    """The executable that npm unpacked for this machine; old versions are a script for Node."""
    found = sorted(folder.glob(f"node_modules/{PACKAGE}-linux-*/claude"))
    if not found and shutil.which("node"):
        found = sorted(folder.glob("node_modules/.bin/claude"))
    return found[0] if found else missing(f"{PACKAGE} has no native binary for this machine")
