"""Threads of the server share one heap: under load each would keep what it once needed."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

BUSY_THREADS = """
import ctypes, sys, threading
from holdfast.surfaces.api.serving import share_one_heap
if sys.argv[2] == "shared":
    share_one_heap()
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


def heaps(file: Path, how: str) -> int:
    subprocess.run([sys.executable, "-c", BUSY_THREADS, str(file), how], check=True, timeout=60)
    return file.read_text().count("<heap nr=")


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="a heap for each thread is glibc's")
def test_what_one_thread_frees_the_others_can_use(tmp_path: Path) -> None:
    assert heaps(tmp_path / "own.xml", "own") > 1
    assert heaps(tmp_path / "shared.xml", "shared") == 1
