"""The heap of a server that runs for months: what it no longer needs goes back to the system."""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress
from functools import cache

# Of glibc's malloc.h.
M_ARENA_MAX = -8


def share_one() -> None:
    """Before there are threads: what one of them frees, the others can use.

    By default each has a heap of its own on Linux, and under load memory creeps up in all of them.
    """
    # Not every libc has this, nor the other.
    with suppress(OSError, AttributeError):
        _libc().mallopt(M_ARENA_MAX, 1)


def give_back() -> None:
    """Pages between things that stay are kept for ever otherwise, as long as the last one stays."""
    with suppress(OSError, AttributeError):
        _libc().malloc_trim(0)


@cache
def _libc() -> ctypes.CDLL:
    if sys.platform != "linux":
        raise OSError("another allocator")
    return ctypes.CDLL(None)
