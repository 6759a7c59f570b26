"""Open transcripts that somebody packed. Hooks never read such files."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any, Protocol

from holdfast.errors import NotATranscript

# So little at once that what it unpacks to is bounded: at most 32 MB, some 10 KB as a rule.
AT_ONCE = 1024


class Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


Problems = tuple[type[Exception], ...]


def opener(path: str) -> tuple[Callable[[str, str], Any], Problems]:
    """What opens a packed file, and what that raises if the file is damaged."""
    if path.endswith(".gz"):
        import gzip

        return gzip.open, (OSError, EOFError, zlib.error)
    try:
        from compression import zstd  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return _with_package()
    return zstd.open, (OSError, EOFError, zstd.ZstdError)


def _with_package() -> tuple[Callable[[str, str], Any], Problems]:
    """Before Python 3.14 the package `zstandard` does it."""
    try:
        import zstandard
    except ImportError:
        raise NotATranscript(
            "this Python cannot unpack .zst",
            hint="unpack it with `zstd -d`, or: pip install zstandard",
        ) from None
    return _Frames, (OSError, EOFError, zstandard.ZstdError)


class _Frames:
    """All frames of a file. The package's own reader takes a file that was cut for a whole one."""

    def __init__(self, path: str, mode: str) -> None:
        import zstandard

        self._new = zstandard.ZstdDecompressor().decompressobj
        self._frame = self._new()
        self._file = open(path, mode)  # noqa: SIM115
        self._begun = False

    def __enter__(self) -> _Frames:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def read(self, size: int, /) -> bytes:
        """At least `size` bytes, or all that is left."""
        parts: list[bytes] = []
        length = 0
        while length < size and (packed := self._file.read(AT_ONCE)):
            while packed:
                parts.append(self._frame.decompress(packed))
                length += len(parts[-1])
                self._begun = not self._frame.eof
                packed = self._frame.unused_data if self._frame.eof else b""
                self._frame = self._new() if self._frame.eof else self._frame
        if not length and self._begun:
            raise EOFError("it ends in the middle")
        return b"".join(parts)
