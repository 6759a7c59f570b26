"""Finds the Chromium that these tests use; skips them, or installs it in CI, if there is none."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess

import pytest

PROGRAM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
INSTALL_TIMEOUT_SECONDS = 600


def find_chromium() -> str:
    """Return the path of the program. In CI install it if it is missing, and fail without it."""
    path = _find_installed()
    in_ci = os.environ.get("CI") == "true"
    if not path and in_ci:
        error = _install()
        path = _find_installed()
        if not path:
            pytest.fail(f"CI must run a real Chromium: {error}", pytrace=False)
    if not path:
        pytest.skip("no Chromium is on the PATH (Debian: apt-get install chromium)")
    return path


def _find_installed() -> str:
    return next((path for name in PROGRAM_NAMES if (path := shutil.which(name))), "")


@functools.cache
def _install() -> str:
    """Return the error message, or an empty string on success."""
    # Another test process may be installing it at the same time.
    install = ["-o", "DPkg::Lock::Timeout=600", "install", "--yes", "--no-install-recommends",
               "chromium"]  # fmt: skip
    for arguments in (["update"], install):
        try:
            completed = subprocess.run(
                ["apt-get", *arguments],
                capture_output=True,
                text=True,
                timeout=INSTALL_TIMEOUT_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
    return "" if completed.returncode == 0 else completed.stderr.strip()[-300:]
