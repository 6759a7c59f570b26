"""Installs the real clients from npm, once, into a cache that all test runs share."""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from .commands import CommandError, run_command
from .requirements import namespace_error, skip_or_fail

INSTALL_TIMEOUT_SECONDS = 300


def find_or_install(package: str, version: str, binary: Callable[[Path], Path]) -> Path:
    """Return the client's binary and install it first if needed; skip or fail if that fails."""
    if sys.platform != "linux":
        skip_or_fail("the client runs in a network namespace, which only Linux has")
    import fcntl  # not available on every system, where these tests must still be collected

    if error := namespace_error():
        skip_or_fail(f"no network namespace: {error}")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "holdfast-tests")
    cache.mkdir(parents=True, exist_ok=True)
    folder = cache / f"{package.rpartition('/')[2]}-{version}"
    with (cache / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two test processes must not install at once
        if not folder.exists():
            install(f"{package}@{version}", folder, binary)
    return binary(folder)


def install(package_spec: str, folder: Path, binary: Callable[[Path], Path]) -> None:
    """Install one version; the folder appears only when the installation is complete."""
    npm = shutil.which("npm") or skip_or_fail("npm is not installed")
    with tempfile.TemporaryDirectory(dir=folder.parent) as parent:
        unfinished = Path(parent, folder.name)
        command = [npm, "install", "--no-fund", "--no-audit", "--loglevel=error"]
        command += ["--prefix", str(unfinished), package_spec]
        try:
            run_command(command, timeout_seconds=INSTALL_TIMEOUT_SECONDS)
        except CommandError as error:
            skip_or_fail(f"npm could not install the client: {error}")
        binary(unfinished)
        unfinished.rename(folder)
