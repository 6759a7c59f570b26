"""The lines of a transcript that count: readable, of the main chain, each once.

Those of Codex are told in the shape of Claude Code's.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterator
from typing import Any

from holdfast.errors import NotATranscript
from holdfast.eval.artifacts.rollout import Rollout, is_rollout

GZIP_MAGIC = b"\x1f\x8b"
# Publishers that mask text in place leave escapes such as `\-` behind.
ESCAPE = re.compile(r'\\(?:(["\\/bfnrt]|u[0-9a-fA-F]{4})|)')


def numbered(path: str, until_line: int | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Every main-chain line up to and including `until_line`, counted from 1."""
    seen: set[str] = set()
    rollout = Rollout()
    for number, raw in enumerate(raw_lines(path), 1):
        if until_line is not None and number > until_line:
            return
        line = _parsed(raw)
        if line is None or line.get("isSidechain") is True:
            continue
        if is_rollout(line):
            line = rollout.translated(line)
        uuid = line.get("uuid")
        if isinstance(uuid, str):
            if uuid in seen:
                continue
            seen.add(uuid)
        yield number, line


def raw_lines(path: str) -> Iterator[bytes]:
    """The file as it is, unpacked if need be."""
    try:
        with open(path, "rb") as probe:
            zipped = probe.read(2) == GZIP_MAGIC
        with gzip.open(path, "rb") if zipped else open(path, "rb") as lines:
            yield from lines
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return  # cut off while it was written: what came before still counts
    except OSError as unreadable:
        raise NotATranscript(f"{path}: {unreadable.strerror or unreadable}") from unreadable


def _parsed(raw: bytes) -> dict[str, Any] | None:
    text = raw.decode("utf-8", "replace").removeprefix("\ufeff")
    for attempt in (str, _mended):
        try:
            line = json.loads(attempt(text))
        except (ValueError, RecursionError):
            continue
        return line if isinstance(line, dict) else None
    return None


def _mended(text: str) -> str:
    return ESCAPE.sub(lambda escape: escape[0] if escape[1] else r"\\", text)
