"""Read a growing JSONL file from where the last reader stopped.

The host owns the file: it may still be appended to, be replaced, shrink or vanish.
"""

from __future__ import annotations

import os
import stat
import zlib
from itertools import takewhile

from holdfast.errors import UnreadableTranscript

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import IO

    from holdfast.transcript.compressed import Readable
    from holdfast.transcript.types import Cursor

CHUNK_BYTES = 1 << 20
# The checksum of a file's first bytes shows that it is still the same file.
CHECKSUM_BYTES = 4096
COMPRESSED_SUFFIXES = (".gz", ".zst")
# The suffix that Codex adds when it compresses the log of an old session.
ARCHIVED_SUFFIX = ".zst"
# A line is one message. The longest seen in real sessions is 1.9 MB (a base64 image).
MAX_LINE_BYTES = 64 << 20
# What precedes the id of a message.
ID_KEY = b'"uuid":"'
MAX_ID_BYTES = 100
# How much `shorten_line` keeps at either end of a string: the first size that is enough.
KEPT_END_BYTES = (500_000, 50_000, 5_000, 500)
MAX_SHORTENED_BYTES = 2 << 20
JSON_STRING = rb'"(?:[^"\\]++|\\.)*+"'
ELLIPSIS = " … ".encode()
# A longer run without a space is cut anywhere: it is no key.
MAX_WORD_BYTES = 400
# The longest JSON escape: a backslash, a `u` and four digits.
ESCAPE_BYTES = 6
# The first digits of a low surrogate, the second half of a character written as two escapes.
LOW_SURROGATES = frozenset((b"dc", b"dd", b"de", b"df"))


class TranscriptReader:
    """Yields complete lines with their 1-based numbers; `cursor()` says where to resume.

    `restarted` is true if the cursor was made for another file: reading then starts from the
    beginning. `too_long` are the numbers of lines above the limit, which are skipped. Raises
    UnreadableTranscript if the path cannot be read or is not a regular file.
    """

    def __init__(self, path: str, cursor: Cursor | None = None) -> None:
        try:
            self.path, status = _find_file(path)
        except OSError as problem:
            raise UnreadableTranscript(f"{path} ({problem.strerror})") from None
        except ValueError as problem:
            # A path from JSON may hold a NUL or half a surrogate pair.
            raise UnreadableTranscript(f"{path!r} ({problem})") from None
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableTranscript(f"{path} is not a regular file")
        self._device, self._inode, self.size = status.st_dev, status.st_ino, status.st_size
        self._cursor: Cursor = cursor or {}
        self.restarted = bool(cursor) and not self._is_same_file()
        if self.restarted:
            self._cursor = {}
        self.offset = self._cursor.get("offset", 0)
        self.line = self._cursor.get("line", 0)
        self._open_line = self._cursor.get("open_line", False)
        self.too_long: list[int] = []

    def _is_same_file(self) -> bool:
        cursor = self._cursor
        if cursor.get("inode") != self._inode or cursor.get("device") != self._device:
            return False
        if self.size < cursor.get("offset", 0):
            return False
        return self._checksum(cursor.get("head_length", 0)) == cursor.get("head_checksum", 0)

    def _checksum(self, length: int) -> int:
        with _open(self.path) as file:
            return zlib.crc32(file.read(length))

    @property
    def has_more(self) -> bool:
        """Whether the file had unread bytes when the reader was created."""
        return self.size > self.offset

    def cursor(self) -> Cursor:
        """Return the position from which the next reader continues."""
        length = min(CHECKSUM_BYTES, self.offset)
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
        """Yield the complete lines after the cursor.

        `stop` is called between chunks, so that a hook can keep its deadline. `finished` says that
        the file is no longer written to, so that a last line without a newline counts as complete.
        """
        if self.is_compressed:
            # A compressed file no longer grows: it is read whole, and the cursor's offset is its
            # compressed size.
            if self.has_more:
                yield from _read_compressed(self)
                self.offset = self.size
            return
        with _open(self.path) as file:
            file.seek(self.offset)
            yield from self.split(file, stop, finished)

    def split(
        self, file: Readable, stop: Callable[[], bool] | None, finished: bool
    ) -> Iterator[tuple[int, bytes]]:
        """Yield the lines of an open file that is positioned at the cursor."""
        partial = bytearray()
        length = 0
        while chunk := file.read(CHUNK_BYTES):
            if self._open_line:
                # The last reader took a line whose newline arrives only now.
                self._open_line = False
                if chunk.startswith(b"\n"):
                    self.offset += 1
                    chunk = chunk[1:]
            if b"\n" not in chunk:
                length += len(chunk)
                # Past the limit only the length is kept, so that memory stays bounded.
                if length <= MAX_LINE_BYTES:
                    partial += chunk
                else:
                    partial.clear()
                # A line within the limit is read to its end even past the deadline: otherwise
                # the next reader would start the same line again and never finish it.
                if length > MAX_LINE_BYTES and stop is not None and stop():
                    return
                continue
            start, end = 0, chunk.find(b"\n")
            if length:
                if self._advance(length + end):
                    partial += chunk[:end]
                    yield self.line, _take(partial)
                start, end = end + 1, chunk.find(b"\n", end + 1)
            # Repeated `find` is faster than `split` on a long text.
            while end >= 0:
                if self._advance(end - start):
                    yield self.line, chunk[start:end]
                start, end = end + 1, chunk.find(b"\n", end + 1)
            partial, length = bytearray(chunk[start:]), len(chunk) - start
            if stop is not None and stop():
                return
        if finished and length:
            self._open_line = True
            if self._advance(length, newline=0):
                yield self.line, _take(partial)

    def _advance(self, length: int, newline: int = 1) -> bool:
        """Move past one line; return whether it is short enough to be decoded."""
        self.offset += length + newline
        self.line += 1
        if length <= MAX_LINE_BYTES:
            return True
        self.too_long.append(self.line)
        return False

    @property
    def is_compressed(self) -> bool:
        return self.path.endswith(COMPRESSED_SUFFIXES)

    def skip_to(self, offset: int) -> None:
        """Move to the first line that begins at or after `offset`, and count the lines before it.

        Counting reads 300 MB in 0.1 s, where folding takes seconds.
        """
        if offset <= self.offset:
            return
        with _open(self.path) as file:
            file.seek(self.offset)
            # The byte before `offset` may be the end of a line.
            left = offset - 1 - self.offset
            while left > 0 and (chunk := file.read(min(CHUNK_BYTES, left))):
                left -= len(chunk)
                self.offset += len(chunk)
                self.line += chunk.count(b"\n")
            while chunk := file.read(CHUNK_BYTES):
                end = chunk.find(b"\n")
                self.offset += end + 1 if end >= 0 else len(chunk)
                if end >= 0:
                    self.line += 1
                    return

    def earlier_ids_loader(self) -> Callable[[], set[str]]:
        """Return a function that reads the ids of all messages before the present offset."""
        end = self.offset

        def load() -> set[str]:
            ids: set[str] = set()
            with _open(self.path) as file:
                left, tail = end, b""
                while left > 0 and (chunk := file.read(min(CHUNK_BYTES, left))):
                    left -= len(chunk)
                    first, *pieces = (tail + chunk).split(ID_KEY)
                    last = pieces[-1] if pieces else first
                    if pieces and len(last) < MAX_ID_BYTES:
                        # The id may continue in the next chunk.
                        tail = ID_KEY + pieces.pop()
                    else:
                        tail = last[1 - len(ID_KEY) :]
                    ids.update(_until_quote(piece) for piece in pieces)
                ids.update(_until_quote(piece) for piece in tail.split(ID_KEY)[1:])
            return ids

        return load


def _take(buffer: bytearray) -> bytes:
    """Return the buffer's content and empty it: a line can be long, so only one copy is kept."""
    line = bytes(buffer)
    buffer.clear()
    return line


def _until_quote(text: bytes) -> str:
    return text[:MAX_ID_BYTES].partition(b'"')[0].decode("utf-8", "replace")


def read_lines(path: str, until_line: int | None = None) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a finished file, up to `until_line`; compressed files are unpacked."""
    lines = TranscriptReader(path).lines(finished=True)
    if until_line is None:
        return lines
    return takewhile(lambda numbered: numbered[0] <= until_line, lines)


def _find_file(path: str) -> tuple[str, os.stat_result]:
    """Return the file or, if it is gone, the archive that Codex made of it."""
    try:
        return path, os.stat(path)
    except FileNotFoundError:
        try:
            return path + ARCHIVED_SUFFIX, os.stat(path + ARCHIVED_SUFFIX)
        except OSError:
            pass
        raise


def _open(path: str) -> IO[bytes]:
    try:
        return open(path, "rb", buffering=0)
    except OSError as problem:
        raise UnreadableTranscript(f"{path} ({problem.strerror})") from None


def _read_compressed(reader: TranscriptReader) -> Iterator[tuple[int, bytes]]:
    from holdfast.transcript import compressed

    open_file, errors = compressed.find_opener(reader.path)
    try:
        with open_file(reader.path, "rb") as file:
            yield from reader.split(file, None, finished=True)
    except errors as problem:
        raise UnreadableTranscript(f"{reader.path} ({problem})") from None


def shorten_line(raw: bytes) -> bytes:
    """Cut the middle out of the longest strings of a line; return b"" if that is not enough.

    Decoding such a line whole would take unbounded memory: a decoded string takes four bytes per
    character as soon as one character is an emoji, and exists twice while its line is decoded. No
    rule looks at the middle of millions of characters. A line that is long because of a million
    short strings takes ten times its size when decoded, and is no message: it is dropped.
    """
    for kept in KEPT_END_BYTES:
        raw = _cut_middles(raw, kept)
        if len(raw) <= MAX_SHORTENED_BYTES:
            return raw
    return b""


def _cut_middles(raw: bytes, kept: int) -> bytes:
    import re

    parts: list[bytes] = []
    at = 0
    for string in re.finditer(JSON_STRING, raw):
        start, end = string.span()
        if end - start > 2 * kept:
            head, tail = _find_cut(raw, start + kept), _find_cut(raw, end - kept)
            # Between words, so that no part of a key is left without its prefix.
            space = raw.rfind(b" ", head - MAX_WORD_BYTES, head)
            parts += [raw[at : space if space > start else head], ELLIPSIS]
            space = raw.find(b" ", tail, min(tail + MAX_WORD_BYTES, end))
            at = space if space > 0 else tail
    parts.append(raw[at:])
    return b"".join(parts)


def _find_cut(raw: bytes, at: int) -> int:
    """Return the last place up to `at` where a JSON string can be cut.

    That is neither inside a UTF-8 character nor inside an escape.
    """
    while raw[at] & 0xC0 == 0x80:
        at -= 1
    escape = raw.rfind(b"\\", at - ESCAPE_BYTES + 1, at)
    if escape >= 0:
        at = escape
        while raw[at - 1 : at] == b"\\":
            at -= 1
    # A character beyond the basic plane may be written as two escapes that belong together.
    is_low_half = raw[at : at + 2] == b"\\u" and raw[at + 2 : at + 4].lower() in LOW_SURROGATES
    return at - ESCAPE_BYTES if is_low_half else at
