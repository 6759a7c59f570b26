"""What these tests need from the machine, and what happens where it is missing."""

import functools
import os
from typing import NoReturn

import pytest

from .commands import CommandError, output_of


def missing(reason: str) -> NoReturn:
    """Skip on a developer's machine; fail in CI, where a skip would go unseen."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"CI must run the real client: {reason}", pytrace=False)
    pytest.skip(reason)


@functools.cache
def no_namespace_because() -> str:
    """Why a network namespace cannot be made here; empty if it can."""
    try:
        output_of([*in_new_namespace(), "nsenter", "--version"], seconds=10)
    except CommandError as error:
        return str(error)
    return ""


def in_new_namespace() -> list[str]:
    """The words before a command that give it a network of its own, with only loopback up."""
    as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
    return ["unshare", *as_root, "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]


def in_namespace_of(pid: int) -> list[str]:
    """The words before a command that let it join the network of a running process."""
    as_root = [] if os.geteuid() == 0 else ["--user", "--preserve-credentials"]
    return ["nsenter", "--target", str(pid), *as_root, "--net"]
