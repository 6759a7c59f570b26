"""Checks that the machine can run the real client in a network namespace."""

import functools
import os
from typing import NoReturn

import pytest

from .commands import CommandError, run_command


def skip_or_fail(reason: str) -> NoReturn:
    """Skip on a developer's machine; fail in CI, where a skipped test would not be noticed."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"CI must run the real client: {reason}", pytrace=False)
    pytest.skip(reason)


@functools.cache
def namespace_error() -> str:
    """Return why no network namespace can be created here, or an empty string."""
    try:
        run_command([*new_namespace_command(), "nsenter", "--version"], timeout_seconds=10)
    except CommandError as error:
        return str(error)
    return ""


def new_namespace_command() -> list[str]:
    """The prefix that runs a command in a new network namespace with only loopback up."""
    as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
    return ["unshare", *as_root, "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]


def join_namespace_command(pid: int) -> list[str]:
    """The prefix that runs a command in the network namespace of a running process."""
    as_root = [] if os.geteuid() == 0 else ["--user", "--preserve-credentials"]
    return ["nsenter", "--target", str(pid), *as_root, "--net"]
