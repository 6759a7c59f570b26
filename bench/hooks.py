"""What a hook process costs, as a ratio to `python -c pass` of the same virtual environment.

Ratios of one run only: the machine is noisy, so both are measured in turn.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench import transcripts
from holdfast.services.install.registration import hook_command, statusline_command

TAIL = 50_000
COMMAND = shlex.split(hook_command())
STATUSLINE = shlex.split(statusline_command())
# hook -> the most it may cost (warm; cold is for 2 MB only)
TARGETS = {
    "PreCompact": 3.0,
    "Stop": 3.0,
    "UserPromptSubmit": 3.0,
    "SessionStart compact": 4.0,
    "statusline": 3.0,
}
COLD_TARGET = 25.0


def timed(command: list[str], stdin: bytes, env: dict[str, str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, input=stdin, env=env, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


class Arena:
    """A scratch home and a transcript, put back to the same state before every run."""

    def __init__(self, folder: Path, size: int) -> None:
        self.transcript = folder / f"{size}.jsonl"
        self.home = folder / f"home-{size}"
        self.saved = folder / f"saved-{size}"
        self.runs = 0
        transcripts.write(self.transcript, size)
        self.env = {"PATH": os.environ["PATH"], "HOLDFAST_HOME": str(self.home)}
        self.warm()

    def payload(self, name: str) -> bytes:
        event, _, source = name.partition(" ")
        payload = {
            "session_id": "bench", "transcript_path": str(self.transcript), "cwd": "/tmp",
            "hook_event_name": event, "source": source, "trigger": "auto", "prompt": "go on",
            "context_window": {"used_percentage": 42, "total_input_tokens": 84_000},
        }  # fmt: skip
        return json.dumps(payload).encode()

    def warm(self) -> None:
        """Fold all but the tail, in the very file that is measured later."""
        whole = self.transcript.read_bytes()
        with self.transcript.open("r+b") as file:
            file.truncate(len(whole) - TAIL)
        timed(COMMAND, self.payload("Stop"), self.env)
        with self.transcript.open("r+b") as file:
            file.seek(len(whole) - TAIL)
            file.write(whole[-TAIL:])
        shutil.copytree(self.home, self.saved)

    def reset(self, *, cold: bool) -> None:
        """A home of its own for each run: what an earlier run started may still write to its."""
        shutil.rmtree(self.home, ignore_errors=True)
        self.runs += 1
        self.home = self.home.with_name(f"{self.saved.name}-{self.runs}")
        self.env["HOLDFAST_HOME"] = str(self.home)
        if not cold:
            shutil.copytree(self.saved, self.home)

    def run(self, name: str, *, cold: bool = False) -> float:
        self.reset(cold=cold)
        command = STATUSLINE if name == "statusline" else COMMAND
        return timed(command, self.payload(name), self.env)


def measure(runs: int, job: Callable[[], float]) -> tuple[float, float]:
    """Medians of the job and of bare Python, taken in turn."""
    jobs, bare = [], []
    for _ in range(runs):
        bare.append(timed([sys.executable, "-c", "pass"], b"", dict(os.environ)))
        jobs.append(job())
    return statistics.median(jobs), statistics.median(bare)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=25)
    args = parser.parse_args()
    print(f"{'hook':<24}{'transcript':>12}{'ms':>8}{'× bare':>8}{'target':>8}")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        for size in (2_000_000, 20_000_000):
            _one_size(Arena(Path(name), size), size, args.runs)


def _one_size(arena: Arena, size: int, runs: int) -> None:
    for hook, target in TARGETS.items():
        _report(hook, size, measure(runs, lambda hook=hook: arena.run(hook)), target)
    small = size < 5_000_000
    for hook in ("PreCompact", "SessionStart compact"):
        cold = measure(runs if small else 5, lambda hook=hook: arena.run(hook, cold=True))
        _report(f"{hook} cold", size, cold, COLD_TARGET if small else None)


def _report(name: str, size: int, times: tuple[float, float], target: float | None) -> None:
    job, bare = times
    wanted = f"≤ {target:g}" if target else "–"
    ratio = job / bare
    mark = "  over" if target and ratio > target else ""
    print(f"{name:<24}{size / 1e6:>9.0f} MB{job * 1e3:>8.1f}{ratio:>8.2f}{wanted:>8}{mark}")


if __name__ == "__main__":
    main()
