"""The real Chromium that these tests drive, and what happens where there is none."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MINUTES = 10


def path() -> str:
    """Where it is. In CI it is installed if it is missing, and must be there in the end."""
    found = _installed()
    in_ci = os.environ.get("CI") == "true"
    if not found and in_ci:
        reason = _install()
        found = _installed()
        if not found:
            pytest.fail(f"CI must run a real Chromium: {reason}", pytrace=False)
    if not found:
        pytest.skip("no Chromium is installed (Debian: apt-get install chromium)")
    return found


def _installed() -> str:
    return next((where for name in NAMES if (where := shutil.which(name))), "")


@functools.cache
def _install() -> str:
    """Why it could not be installed; empty if it was."""
    # Tests run side by side: another of them may be installing it just now.
    install = ["-o", "DPkg::Lock::Timeout=600", "install", "--yes", "--no-install-recommends",
               "chromium"]  # fmt: skip
    for words in (["update"], install):
        try:
            done = subprocess.run(
                ["apt-get", *words],
                capture_output=True,
                text=True,
                timeout=60 * MINUTES,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as problem:
            return str(problem)
    return "" if done.returncode == 0 else done.stderr.strip()[-300:]
