"""Find the time of the last event in a transcript."""

from __future__ import annotations

import os
import re

from holdfast.services.time_parsing import parse_timestamp
from holdfast.transcript.reader import COMPRESSED_SUFFIXES, read_lines

# The part of a file's end that is searched for the last timestamp.
TAIL_BYTES, TIMESTAMP = 1 << 18, re.compile(rb'"timestamp": ?"([^"]{10,40})"')


def find_last_time(path: str) -> float:
    """Return the time of the last event in a transcript, or else the file's own time.

    Raises UnreadableTranscript or OSError if it cannot be read.
    """
    read = _read_last_line if path.endswith(COMPRESSED_SUFFIXES) else _read_tail
    timestamps = TIMESTAMP.findall(read(path))
    at = timestamps[-1].decode("utf-8", "replace") if timestamps else ""
    return parse_timestamp(at, os.stat(path).st_mtime)


def _read_tail(path: str) -> bytes:
    with open(path, "rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL_BYTES))
        return file.read()


def _read_last_line(path: str) -> bytes:
    """Return the last line with a time of a compressed file, which is read from its beginning."""
    last = b""
    for _, raw in read_lines(path):
        if b'"timestamp"' in raw:
            last = raw
    return last
