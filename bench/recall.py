"""How well and how fast things are found again; every figure is a share or a ratio of one run.

With a folder of real transcripts (--corpus) recoverability, size and speed are measured on them.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path

from bench import transcripts
from holdfast.eval import recoverability
from holdfast.eval.lookup import LOOKUPS
from holdfast.search import document_ids
from holdfast.search.index_db import SearchIndex
from holdfast.search.ingest import Source, ingest_transcript
from holdfast.search.search import search
from holdfast.search.tokenizer import to_indexed_text

CORPUS = Path(__file__).parents[1].parent / "shared" / "corpus"
NOW = 4_000_000_000.0
# json decodes some 200 MB/s where 20 MB/s of indexing were asked for.
SPEED = 0.1
SMALL, LARGE = 10_000, 1_000_000
PER_SESSION = 10_000
QUERIES = 60
QUESTIONS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("by a name", lambda text: text.split()[-1]),
    ("by three words", lambda text: " ".join(text.split()[:3])),
    ("by all its words", lambda text: text),
)


def report(title: str, value: str, target: str, ok: bool) -> None:
    print(f"{title:<58}{value:>10}{target:>10}{'' if ok else '  missed'}", flush=True)


def sessions(corpus: Path) -> list[Path]:
    """Claude Code's main transcripts among them."""
    found = sorted(corpus.glob("*.jsonl.gz")) if corpus.is_dir() else []
    return [path for path in found if "codex" not in path.name and "agent-" not in path.name]


def unpacked(paths: list[Path], folder: Path) -> list[Path]:
    made = []
    for path in paths:
        made.append(folder / path.name.removesuffix(".gz"))
        made[-1].write_bytes(gzip.decompress(path.read_bytes()))
    return made


def measure_recoverability(paths: list[Path]) -> None:
    """The measure of `holdfast eval --recoverability`."""
    tried = [one for each in recoverability.try_all([*map(str, paths)], LOOKUPS) for one in each]
    found = recoverability.summarize(tried)
    print(f"{found['entities']} entities needed after {found['compactions']} compactions")
    for one in found["shares"]:
        aim = one["aim"]
        wanted = f"≥ {aim:.0%}" if aim else "–"
        report(one["what"], f"{one['all']:.2%}", wanted, not aim or one["all"] >= aim)


def measure_filling(paths: list[Path], folder: Path) -> None:
    size = sum(path.stat().st_size for path in paths) / 1e6
    with SearchIndex(str(folder / "recall.db")) as index:
        started = time.process_time()
        for path in paths:
            ingest_transcript(index, Source(path.name, "/p", str(path)), NOW)
        filled = time.process_time() - started
        texts = sum(row["indexed"] for row in index.fetch_all("transcripts"))
        ratio = index.size / texts
    decoded = seconds_to_decode(paths)
    report(f"indexing {size:.0f} MB: {size / filled:.0f} MB/s, × decoding with json",
           f"{decoded / filled:.2f}", f"≥ {SPEED}", decoded / filled >= SPEED)  # fmt: skip
    report(f"index of {texts / 1e6:.0f} MB of text, × the text", f"{ratio:.2f}", "≤ 1.5",
           ratio <= 1.5)  # fmt: skip


def seconds_to_decode(paths: list[Path]) -> float:
    started = time.process_time()
    for path in paths:
        for line in path.open("rb"):
            try:
                json.loads(line)
            except ValueError:
                continue
    return time.process_time() - started


def made_up(count: int, seed: int = 7) -> Iterator[str]:
    """Events as they are: common words, and names that stand in a few places only."""
    pick = random.Random(seed)
    words = [f"word{number}" for number in range(5000)]
    weights = [*accumulate(1 / (number + 1) for number in range(5000))]
    for _ in range(count):
        name = f"name_{pick.randrange(max(1, count // 8)):06d}_x"
        yield " ".join([*pick.choices(words, cum_weights=weights, k=20), name])


def grown(path: Path, count: int) -> SearchIndex:
    index = SearchIndex(str(path))
    texts = made_up(count)
    for first in range(0, count, PER_SESSION):
        number = document_ids.MAX_SESSIONS_PER_PROJECT + first // PER_SESSION
        some = [next(texts) for _ in range(min(PER_SESSION, count - first))]
        with index.transaction():
            index.fetch_all("save_transcript", _transcript(number))
            rows = [
                (document_ids.transcript_document_id(number, line, 0), text)
                for line, text in enumerate(some, 1)
            ]
            index.execute_many("add_document", [(ident, 0, "", "", line, text, 0, None, 0)
                                     for line, (ident, text) in enumerate(rows)])  # fmt: skip
            index.execute_many(
                "add_words", [(ident, *to_indexed_text(text)) for ident, text in rows]
            )
    return index


def _transcript(number: int) -> dict[str, object]:
    return {
        "number": number, "session": f"s{number}", "path": "", "cursor": "{}", "size": 0,
        "changed": 0, "calls": "{}", "compaction": 0, "documents": PER_SESSION, "indexed": 0,
    }  # fmt: skip


def measure_growth(folder: Path, large: int) -> None:
    """The same kinds of questions to a small and to a large index, in processor time."""
    opened = {count: grown(folder / f"{count}.db", count) for count in (SMALL, large)}
    for title, ask in QUESTIONS:
        times: dict[int, list[float]] = {SMALL: [], large: []}
        asked = {count: [*sample(count, ask)] for count in opened}
        for number in range(QUERIES):
            for count, index in opened.items():
                started = time.process_time()
                search(index, asked[count][number], document_ids.ALL_IDS)
                times[count].append(time.process_time() - started)
        small, big = (statistics.median(times[count]) for count in (SMALL, large))
        report(f"{title}: p50 at {large:,} events, × at {SMALL:,} ({small * 1e3:.1f} ms)",
               f"{big / small:.2f}", "≤ 3", big / small <= 3)  # fmt: skip
    for index in opened.values():
        index.close()


def sample(count: int, ask: Callable[[str], str]) -> Iterator[str]:
    step = max(1, count // QUERIES)
    for number, text in enumerate(made_up(count)):
        if number % step == 0:
            yield ask(text)


def measure_command(folder: Path, runs: int) -> None:
    home, log = folder / "home", folder / "bench.jsonl"
    transcripts.write(log, 4_000_000)
    env = {"PATH": os.environ["PATH"], "HOLDFAST_HOME": str(home)}
    holdfast = [str(Path(sys.executable).with_name("holdfast"))]
    command = [*holdfast, "recall", "retry handler lease", "--all-projects"]
    for first in ([*holdfast, "recover", str(log)], command):
        subprocess.run(first, env=env, capture_output=True, check=True)
    whole, bare = [], []
    for _ in range(runs):
        bare.append(_seconds([sys.executable, "-c", "pass"], env))
        whole.append(_seconds(command, env))
    ratio = statistics.median(whole) / statistics.median(bare)
    report("the whole command, × bare Python", f"{ratio:.2f}", "≤ 6", ratio <= 6)


def _seconds(command: list[str], env: dict[str, str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, env=env, capture_output=True, check=True)
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--events", type=int, default=LARGE, help="of the large index")
    parser.add_argument("--runs", type=int, default=25)
    args = parser.parse_args()
    found = sessions(args.corpus)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if found:
            measure_recoverability(found)
            measure_filling(unpacked(found, folder), folder)
        else:
            print(f"no transcripts in {args.corpus}: recoverability, size and speed are left out")
        measure_command(folder, args.runs)
        measure_growth(folder, args.events)


if __name__ == "__main__":
    main()
