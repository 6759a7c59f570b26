"""Run wrk, the load tool, and read its figures."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

SCRIPTS = Path(__file__).parent / "lua"
INSTALL = "wrk is not installed: apt install wrk, or brew install wrk"


class Load(NamedTuple):
    """What wrk measured; latencies in milliseconds."""

    requests: int
    seconds: float
    p50: float
    p99: float
    longest: float
    errors: int

    @property
    def rate(self) -> float:
        return self.requests / self.seconds


def need_wrk() -> None:
    """End the program, with how to install it, if it is missing."""
    if shutil.which("wrk") is None:
        raise SystemExit(INSTALL)


def run_wrk(
    script: str, url: str, *args: str, connections: int, seconds: float, threads: int = 1
) -> Load:
    """Run one of the scripts beside this module; raises RuntimeError if requests failed."""
    done = subprocess.run(
        [
            "wrk", f"-t{threads}", f"-c{connections}", f"-d{seconds:.0f}s", "--timeout", "30s",
            "-s", str(SCRIPTS / script), url, "--", *args,
        ],
        capture_output=True, text=True, check=True, env={**os.environ, "BENCH_LUA": str(SCRIPTS)},
    )  # fmt: skip
    figures = next(line for line in done.stdout.splitlines() if line.startswith("RESULT"))
    requests, duration, p50, p99, longest, errors = map(int, figures.split()[1:])
    if errors:
        raise RuntimeError(f"{errors} of {requests} requests failed")
    return Load(requests, duration / 1e6, p50 / 1000, p99 / 1000, longest / 1000, errors)
