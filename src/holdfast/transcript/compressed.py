"""Open compressed transcripts (.gz, .zst). Hooks never read such files."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any, Protocol

from holdfast.errors import UnreadableTranscript

# How much compressed input is unpacked at once. This bounds the output to 32 MB in the worst case;
# usually it is about 10 KB.
INPUT_CHUNK_BYTES = 1024


class Readable(Protocol):
    """The part of a binary file that the reader uses."""

    def read(self, size: int, /) -> bytes: ...


ErrorTypes = tuple[type[Exception], ...]


def find_opener(path: str) -> tuple[Callable[[str, str], Any], ErrorTypes]:
    """Return a function that opens the file, and the exceptions of reading a damaged file.

    Raises UnreadableTranscript if this Python cannot unpack .zst.
    """
    if path.endswith(".gz"):
        import gzip

        return gzip.open, (OSError, EOFError, zlib.error)
    try:
        from compression import zstd  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return _find_zstandard_opener()
    return zstd.open, (OSError, EOFError, zstd.ZstdError)


def _find_zstandard_opener() -> tuple[Callable[[str, str], Any], ErrorTypes]:
    """Return the same with the package `zstandard`, for Python before 3.14."""
    try:
        import zstandard
    except ImportError:
        raise UnreadableTranscript(
            "this Python cannot unpack .zst",
            hint="unpack it with `zstd -d`, or: pip install zstandard",
        ) from None
    return _ZstdFile, (OSError, EOFError, zstandard.ZstdError)


class _ZstdFile:
    """Reads all frames of a file. The package's own reader accepts a truncated file silently."""

    def __init__(self, path: str, mode: str) -> None:
        import zstandard

        self._new_frame = zstandard.ZstdDecompressor().decompressobj
        self._frame = self._new_frame()
        self._file = open(path, mode)  # noqa: SIM115
        self._is_inside_frame = False

    def __enter__(self) -> _ZstdFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def read(self, size: int, /) -> bytes:
        """Return at least `size` bytes, or all that is left; raise EOFError on a truncated file."""
        parts: list[bytes] = []
        length = 0
        while length < size and (packed := self._file.read(INPUT_CHUNK_BYTES)):
            while packed:
                parts.append(self._frame.decompress(packed))
                length += len(parts[-1])
                self._is_inside_frame = not self._frame.eof
                packed = self._frame.unused_data if self._frame.eof else b""
                self._frame = self._new_frame() if self._frame.eof else self._frame
        if not length and self._is_inside_frame:
            raise EOFError("it ends in the middle")
        return b"".join(parts)
