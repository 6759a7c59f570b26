"""The real clients: installed from npm once, into a cache that all test runs share."""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from .commands import CommandError, output_of
from .requirements import missing, no_namespace_because

INSTALL_SECONDS = 300


def required(package: str, version: str, binary: Callable[[Path], Path]) -> Path:
    """The client's binary, installed if need be; skips or fails where that cannot be done."""
    if sys.platform != "linux":
        missing("the client runs in a network namespace, which only Linux has")
    import fcntl  # not on every system, and a test that is skipped must still be collected

    if reason := no_namespace_because():
        missing(f"no network namespace: {reason}")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "holdfast-tests")
    cache.mkdir(parents=True, exist_ok=True)
    folder = cache / f"{package.rpartition('/')[2]}-{version}"
    with (cache / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two workers must not install at once
        if not folder.exists():
            install(f"{package}@{version}", folder, binary)
    return binary(folder)


def install(wanted: str, folder: Path, binary: Callable[[Path], Path]) -> None:
    """Install one version; the folder appears only when it is whole."""
    npm = shutil.which("npm") or missing("npm is not installed")
    with tempfile.TemporaryDirectory(dir=folder.parent) as parent:
        unfinished = Path(parent, folder.name)
        command = [npm, "install", "--no-fund", "--no-audit", "--loglevel=error"]
        command += ["--prefix", str(unfinished), wanted]
        try:
            output_of(command, seconds=INSTALL_SECONDS)
        except CommandError as error:
            missing(f"npm could not install the client: {error}")
        binary(unfinished)
        unfinished.rename(folder)
