"""How fast a log is folded, against decoding and against merely counting its lines."""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

from bench import transcripts
from holdfast.state.fold import advance, new_state
from holdfast.transcript.events import decode
from holdfast.transcript.reader import whole_file

SIZE = 20_000_000
TARGET = 0.5


def count_newlines(path: Path) -> None:
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            chunk.count(b"\n")


def decode_with_json(path: Path) -> None:
    with path.open("rb") as file:
        for line in file:
            json.loads(line)


def fold_it(path: Path) -> None:
    advance(new_state(), decode(whole_file(str(path))))


def speed(job: Callable[[Path], None], path: Path, runs: int) -> float:
    """Megabytes per second of processor time."""
    times = []
    for _ in range(runs):
        started = time.process_time()
        job(path)
        times.append(time.process_time() - started)
    return path.stat().st_size / 1e6 / statistics.median(times)


def peak(path: Path) -> float:
    tracemalloc.start()
    fold_it(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "session.jsonl"
        transcripts.write(path, SIZE)
        base = speed(decode_with_json, path, args.runs)
        print(f"{'on 20 MB':<24}{'MB/s':>8}{'× json':>8}{'target':>8}")
        for title, job, target in (
            ("counting newlines", count_newlines, None),
            ("decoding with json", decode_with_json, None),
            ("folding", fold_it, TARGET),
        ):
            rate = base if job is decode_with_json else speed(job, path, args.runs)
            wanted = f"≥ {target:g}" if target else "–"
            mark = "  under" if target and rate / base < target else ""
            print(f"{title:<24}{rate:>8.0f}{rate / base:>8.2f}{wanted:>8}{mark}")
        print(f"most memory while folding: {peak(path):.1f} MB")


if __name__ == "__main__":
    main()
