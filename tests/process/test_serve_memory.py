"""The server's memory: threads share one heap, and what is free in it goes back to the system."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

BUSY_THREADS = """
import ctypes, sys, threading
from holdfast.surfaces.api import heap
if sys.argv[2] == "shared":
    heap.share_one()
at_once = threading.Barrier(4)
def work():
    at_once.wait()
    kept = [bytes(5000) for _ in range(100)]
    at_once.wait()
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
into = ctypes.c_void_p(libc.fopen(sys.argv[1].encode(), b"w"))
libc.malloc_info(0, into)
libc.fclose(into)
"""

# Every hundredth thing stays, so the end of the heap does too.
SCATTERED = """
from holdfast.surfaces.api import heap
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1])
many = [bytes(5000) for _ in range(10_000)]
few = many[::100]
del many
before = resident()
heap.give_back()
print(before - resident())
"""
glibc_only = pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="heaps are glibc's matter"
)


def heaps(file: Path, how: str) -> int:
    subprocess.run([sys.executable, "-c", BUSY_THREADS, str(file), how], check=True, timeout=60)
    return file.read_text().count("<heap nr=")


@glibc_only
def test_what_one_thread_frees_the_others_can_use(tmp_path: Path) -> None:
    assert heaps(tmp_path / "own.xml", "own") > 1
    assert heaps(tmp_path / "shared.xml", "shared") == 1


@glibc_only
def test_pages_between_what_stays_go_back_to_the_system() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCATTERED], capture_output=True, check=True, timeout=60
    )
    # Of 50 MB in pages of 4 KB, hardly any holds something that stays.
    assert int(done.stdout) > 10_000
