"""How fast a log is folded, against decoding and against merely counting its lines."""

from __future__ import annotations

import argparse
import gc
import gzip
import json
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench import transcripts
from holdfast.state.fold import advance, new_state
from holdfast.transcript.decoder import Decoder, decode
from holdfast.transcript.reader import TranscriptReader, read_lines
from holdfast.transcript.types import Cursor

Job = Callable[[Path], None]
SIZE = 20_000_000
# Every text of a log is searched for secrets, which takes longer than decoding and folding it.
TARGET = 0.1
TAIL = 50_000
BEFORE_TAIL = (2_000_000, 20_000_000, 200_000_000)
# As far as a noisy machine can tell two equal times apart.
STEADY = 1.5


def count_newlines(path: Path) -> None:
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            chunk.count(b"\n")


def decode_with_json(path: Path) -> None:
    with path.open("rb") as file:
        for line in file:
            try:
                json.loads(line)
            except ValueError:
                continue


def fold_it(path: Path) -> None:
    advance(new_state(), decode(read_lines(str(path))))


def quickest(job: Callable[[], None], runs: int) -> float:
    """Seconds of processor time, of the run that was disturbed least."""
    return min(seconds(job) for _ in range(runs))


def seconds(job: Callable[[], None]) -> float:
    # What an earlier job left behind is not this one's work.
    gc.collect()
    started = time.process_time()
    job()
    return time.process_time() - started


def speeds(jobs: list[Job], paths: list[Path], runs: int) -> list[float]:
    """Megabytes per second of processor time. The jobs take turns: machines have slow minutes."""
    spent = [0.0] * len(jobs)
    for path in paths:
        turns = [[seconds(partial(job, path)) for job in jobs] for _ in range(runs)]
        spent = [
            all_of + min(times)
            for all_of, times in zip(spent, zip(*turns, strict=True), strict=True)
        ]
    size = sum(path.stat().st_size for path in paths) / 1e6
    return [size / one for one in spent]


def compare(title: str, paths: list[Path], runs: int) -> None:
    print(f"{title:<24}{'MB/s':>8}{'× json':>8}{'target':>8}")
    jobs = [count_newlines, decode_with_json, fold_it]
    rates = speeds(jobs, paths, runs)
    base = rates[jobs.index(decode_with_json)]
    for name, rate, target in zip(
        ("counting newlines", "decoding with json", "folding"),
        rates,
        (None, None, TARGET),
        strict=True,
    ):
        wanted = f"≥ {target:g}" if target else "–"
        mark = "  under" if target and rate / base < target else ""
        print(f"{name:<24}{rate:>8.0f}{rate / base:>8.2f}{wanted:>8}{mark}")


def unpacked(sessions: Path, folder: Path) -> list[Path]:
    """The Claude Code sessions in a folder, as files of one line each message."""
    found = sorted(path for path in sessions.rglob("*.jsonl*") if "codex" not in path.name)
    paths = []
    for number, path in enumerate(path for path in found if path.suffix in (".gz", ".jsonl")):
        content = path.read_bytes()
        paths.append(folder / f"{number}.jsonl")
        paths[-1].write_bytes(gzip.decompress(content) if path.suffix == ".gz" else content)
    return paths


def with_tail(path: Path, size: int) -> Cursor:
    """A log of that size, and where its reader stood before the last 50 KB were written."""
    transcripts.repeat(path, size)
    reader = TranscriptReader(str(path))
    for _ in reader.lines():
        pass
    few = path.with_name("tail.jsonl")
    transcripts.write(few, TAIL)
    tail = few.read_bytes().replace(b'"uuid":"u', b'"uuid":"new').replace(b'"2026-', b'"2027-')
    with path.open("ab") as file:
        file.write(tail)
    return {**reader.cursor(), "newest_at": "2026-12", "newest_ids": []}


def fold_tail(path: Path, cursor: Cursor) -> None:
    reader = TranscriptReader(str(path), cursor)
    advance(new_state(), Decoder(cursor, reader.earlier_ids_loader()).events(reader.lines()))
    assert not reader.restarted


def compare_tails(folder: Path, runs: int) -> None:
    print(f"\n{'the last 50 KB':<24}{'ms':>8}{'× 2 MB':>8}{'target':>8}")
    base = 0.0
    for size in BEFORE_TAIL:
        path = folder / "grown.jsonl"
        cursor = with_tail(path, size)
        spent = quickest(partial(fold_tail, path, cursor), 5 * runs)
        path.unlink()
        base = base or spent
        mark = "  over" if spent / base > STEADY else ""
        name = f"of {size // 1_000_000} MB"
        print(f"{name:<24}{1000 * spent:>8.2f}{spent / base:>8.2f}{f'≤ {STEADY:g}':>8}{mark}")


def peak(path: Path) -> float:
    tracemalloc.start()
    fold_it(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--sessions", type=Path, help="a folder of real sessions to fold as well")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "session.jsonl"
        transcripts.write(path, SIZE)
        compare("on 20 MB", [path], args.runs)
        print(f"most memory while folding: {peak(path):.1f} MB")
        compare_tails(folder, args.runs)
        if args.sessions and (real := unpacked(args.sessions, folder)):
            print()
            compare(f"on {len(real)} real sessions", real, args.runs)


if __name__ == "__main__":
    main()
