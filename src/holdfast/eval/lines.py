"""Read the main-chain lines of a transcript, each once; unreadable lines are skipped.

Lines of Codex are converted to the shape of Claude Code's.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import zlib
from collections.abc import Iterator
from typing import Any

from holdfast.errors import UnreadableTranscript
from holdfast.eval.rollout import Rollout, is_rollout

GZIP_MAGIC = b"\x1f\x8b"
# Publishers that mask text in place leave invalid escapes such as `\-` behind.
ESCAPE = re.compile(r'\\(?:(["\\/bfnrt]|u[0-9a-fA-F]{4})|)')


def find_transcripts(paths: list[str]) -> Iterator[str]:
    """Yield the transcripts in these files and folders, without logs of sub-agents."""
    for path in dict.fromkeys(paths):
        if not os.path.exists(path):
            raise UnreadableTranscript(f"{path} (no such file or folder)")
        if not os.path.isdir(path):
            yield path
            continue
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(name for name in folders if name != "subagents")
            for name in sorted(names):
                if name.endswith((".jsonl", ".jsonl.gz")) and not name.startswith("agent-"):
                    yield os.path.join(folder, name)


def read_main_lines(
    path: str, until_line: int | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield every main-chain line up to and including `until_line`, counted from 1."""
    seen: set[str] = set()
    rollout = Rollout()
    for number, raw in enumerate(read_raw_lines(path), 1):
        if until_line is not None and number > until_line:
            return
        line = parse_line(raw)
        if line is None or line.get("isSidechain") is True:
            continue
        if is_rollout(line):
            line = rollout.convert(line)
        uuid = line.get("uuid")
        if isinstance(uuid, str):
            if uuid in seen:
                continue
            seen.add(uuid)
        yield number, line


def read_raw_lines(path: str) -> Iterator[bytes]:
    """Yield the raw lines, decompressed if the file is gzip; of a damaged file, those before.

    Raises UnreadableTranscript if the file cannot be opened.
    """
    try:
        with open(path, "rb") as probe:
            is_gzip = probe.read(2) == GZIP_MAGIC
        with gzip.open(path, "rb") if is_gzip else open(path, "rb") as lines:
            yield from lines
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return
    except OSError as problem:
        raise UnreadableTranscript(f"{path}: {problem.strerror or problem}") from problem


def parse_line(raw: bytes) -> dict[str, Any] | None:
    """Return the object in a line; None if there is none. Invalid escapes are repaired."""
    text = raw.decode("utf-8", "replace").removeprefix("\ufeff")
    for prepare in (str, _repair_escapes):
        try:
            line = json.loads(prepare(text))
        except (ValueError, RecursionError):
            continue
        return line if isinstance(line, dict) else None
    return None


def _repair_escapes(text: str) -> str:
    return ESCAPE.sub(lambda escape: escape[0] if escape[1] else r"\\", text)
