"""Read a growing JSONL file from where the last reader stopped.

The file belongs to the host: it may still be written to, be replaced, shrink or vanish.
"""

from __future__ import annotations

import os
import stat
import zlib
from itertools import takewhile

from holdfast.errors import NotATranscript

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import IO

    from holdfast.transcript.model import Cursor
    from holdfast.transcript.packed import Readable

CHUNK = 1 << 20
HEAD = 4096
PACKED, COLD = (".gz", ".zst"), ".zst"
# A line is one message. The longest seen in real sessions is 1.9 MB (a base64 image).
LONGEST_LINE = 64 << 20
# What stands before the identity of a message.
IDENTITY = b'"uuid":"'
LONGEST_IDENTITY = 100


class Reader:
    """Yields complete lines with their 1-based number; `cursor()` says where to go on."""

    def __init__(self, path: str, cursor: Cursor | None = None) -> None:
        try:
            self.path, found = _stat(path)
        except OSError as problem:
            raise NotATranscript(f"{path} ({problem.strerror})") from None
        except ValueError as problem:
            # A path with a NUL, or with half a surrogate pair, as JSON may hold them.
            raise NotATranscript(f"{path!r} ({problem})") from None
        if not stat.S_ISREG(found.st_mode):
            raise NotATranscript(f"{path} is not a regular file")
        self._device, self._inode, self.size = found.st_dev, found.st_ino, found.st_size
        self._cursor: Cursor = cursor or {}
        self.restarted = bool(cursor) and not self._is_same_file()
        if self.restarted:
            self._cursor = {}
        self.offset = self._cursor.get("offset", 0)
        self.line = self._cursor.get("line", 0)
        self._open_line = self._cursor.get("open_line", False)
        self.too_long: list[int] = []

    def _is_same_file(self) -> bool:
        known = self._cursor
        if known.get("inode") != self._inode or known.get("device") != self._device:
            return False
        if self.size < known.get("offset", 0):
            return False
        return self._checksum(known.get("head_length", 0)) == known.get("head_checksum", 0)

    def _checksum(self, length: int) -> int:
        with _open(self.path) as file:
            return zlib.crc32(file.read(length))

    @property
    def has_more(self) -> bool:
        return self.size > self.offset

    def cursor(self) -> Cursor:
        """Where the next reader goes on."""
        length = min(HEAD, self.offset)
        return {
            "offset": self.offset,
            "line": self.line,
            "device": self._device,
            "inode": self._inode,
            "head_length": length,
            "head_checksum": self._checksum(length),
            "open_line": self._open_line,
        }

    def lines(
        self, *, stop: Callable[[], bool] | None = None, finished: bool = False
    ) -> Iterator[tuple[int, bytes]]:
        """Complete lines after the cursor.

        `stop` is asked between chunks, so that a hook can keep its deadline; `finished` says
        that nobody writes to the file any more, so a last line without a newline counts.
        """
        if self.path.endswith(PACKED):
            # Nobody writes to such a file: it is read as a whole, and its own size is the offset.
            if self.has_more:
                yield from _unpacked(self)
                self.offset = self.size
            return
        with _open(self.path) as file:
            file.seek(self.offset)
            yield from self.split(file, stop, finished)

    def split(
        self, file: Readable, stop: Callable[[], bool] | None, finished: bool
    ) -> Iterator[tuple[int, bytes]]:
        """The lines of an open file that stands at the cursor."""
        held = bytearray()
        length = 0
        while chunk := file.read(CHUNK):
            if self._open_line:
                # The last reader took a line whose newline only arrives now.
                self._open_line = False
                if chunk.startswith(b"\n"):
                    self.offset += 1
                    chunk = chunk[1:]
            if b"\n" not in chunk:
                length += len(chunk)
                # Past the limit only the length is kept: memory stays bounded.
                if length <= LONGEST_LINE:
                    held += chunk
                else:
                    held.clear()
                # A line that can be used is read to its end, or it would never be.
                if length > LONGEST_LINE and stop is not None and stop():
                    return
                continue
            start, end = 0, chunk.find(b"\n")
            if length:
                if self._takes(length + end):
                    held += chunk[:end]
                    yield self.line, _given(held)
                start, end = end + 1, chunk.find(b"\n", end + 1)
            # One by one, because to split a long text is slower than to search for single signs.
            while end >= 0:
                if self._takes(end - start):
                    yield self.line, chunk[start:end]
                start, end = end + 1, chunk.find(b"\n", end + 1)
            held, length = bytearray(chunk[start:]), len(chunk) - start
            if stop is not None and stop():
                return
        if finished and length:
            self._open_line = True
            if self._takes(length, newline=0):
                yield self.line, _given(held)

    def _takes(self, length: int, newline: int = 1) -> bool:
        """Step over a line; whether it is short enough to be looked at."""
        self.offset += length + newline
        self.line += 1
        if length <= LONGEST_LINE:
            return True
        self.too_long.append(self.line)
        return False

    def earlier(self) -> Callable[[], set[str]]:
        """Gives, when asked, the identities of all messages that stand before the cursor."""
        end = self.offset

        def identities() -> set[str]:
            found: set[str] = set()
            with _open(self.path) as file:
                left, tail = end, b""
                while left > 0 and (chunk := file.read(min(CHUNK, left))):
                    left -= len(chunk)
                    first, *pieces = (tail + chunk).split(IDENTITY)
                    last = pieces[-1] if pieces else first
                    if pieces and len(last) < LONGEST_IDENTITY:
                        # It may go on in the next chunk.
                        tail = IDENTITY + pieces.pop()
                    else:
                        tail = last[1 - len(IDENTITY) :]
                    found.update(_until_quote(piece) for piece in pieces)
                found.update(_until_quote(piece) for piece in tail.split(IDENTITY)[1:])
            return found

        return identities


def _given(held: bytearray) -> bytes:
    """A line that is given away, and not held here too: it can be long."""
    line = bytes(held)
    held.clear()
    return line


def _until_quote(text: bytes) -> str:
    return text[:LONGEST_IDENTITY].partition(b'"')[0].decode("utf-8", "replace")


def whole_file(path: str, until_line: int | None = None) -> Iterator[tuple[int, bytes]]:
    """The leading lines of a file that nobody writes to any more; packed ones are unpacked."""
    lines = Reader(path).lines(finished=True)
    if until_line is None:
        return lines
    return takewhile(lambda numbered: numbered[0] <= until_line, lines)


def _stat(path: str) -> tuple[str, os.stat_result]:
    """The file, or what became of it: Codex packs the logs of sessions that have grown cold."""
    try:
        return path, os.stat(path)
    except FileNotFoundError:
        try:
            return path + COLD, os.stat(path + COLD)
        except OSError:
            pass
        raise


def _open(path: str) -> IO[bytes]:
    try:
        return open(path, "rb", buffering=0)
    except OSError as problem:
        raise NotATranscript(f"{path} ({problem.strerror})") from None


def _unpacked(reader: Reader) -> Iterator[tuple[int, bytes]]:
    from holdfast.transcript import packed

    opened, problems = packed.opener(reader.path)
    try:
        with opened(reader.path, "rb") as file:
            yield from reader.split(file, None, finished=True)
    except problems as problem:
        raise NotATranscript(f"{reader.path} ({problem})") from None
