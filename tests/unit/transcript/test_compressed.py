"""Compressed transcripts are read completely, and a damaged file raises an error."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
import zstandard

from holdfast.errors import UnreadableTranscript
from holdfast.transcript.reader import read_lines
from tests.unit.transcript.reading import Numbered


@pytest.fixture(params=["plain", "compressed"])
def write_file(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[bytes], str]:
    """A function that writes a plain or a compressed transcript and returns its path."""

    def write(content: bytes) -> str:
        compressed = request.param == "compressed"
        path = tmp_path / ("session.jsonl.gz" if compressed else "session.jsonl")
        path.write_bytes(gzip.compress(content) if compressed else content)
        return str(path)

    return write


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", []),
        (b"a", [(1, b"a")]),
        (b"a\n", [(1, b"a")]),
        (b"a\n\nb", [(1, b"a"), (2, b""), (3, b"b")]),
        (b"a\r\n\x00\n\xff\n", [(1, b"a\r"), (2, b"\x00"), (3, b"\xff")]),
    ],
)
def test_all_lines_are_read_from_plain_and_compressed_files(
    write_file: Callable[[bytes], str], content: bytes, lines: Numbered
) -> None:
    assert list(read_lines(write_file(content))) == lines


@pytest.mark.parametrize("until", [0, 1, 2, 3, 9])
def test_a_file_can_be_read_up_to_a_line(write_file: Callable[[bytes], str], until: int) -> None:
    lines = list(read_lines(write_file(b"a\nb\nc"), until_line=until))
    assert lines == [(1, b"a"), (2, b"b"), (3, b"c")][:until]


def damaged_gzip_files(content: bytes) -> Iterator[tuple[str, bytes]]:
    compressed = gzip.compress(content)
    yield "cut in the trailer", compressed[:-4]
    yield "cut in the data", compressed[: len(compressed) // 2]
    yield "cut in the header", compressed[:5]
    yield "damaged", compressed[:20] + b"\xff" * 20 + compressed[40:]
    yield "with a wrong checksum", compressed[:-8] + b"\0\0\0\0" + compressed[-4:]
    yield "not compressed", content


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(content, id=damage)
        for damage, content in damaged_gzip_files(Random(1).randbytes(4000))
    ],
)
def test_a_damaged_gzip_file_is_reported_as_unreadable(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "session.jsonl.gz"
    path.write_bytes(content)
    with pytest.raises(UnreadableTranscript, match=r"session\.jsonl\.gz"):
        list(read_lines(str(path)))


def test_lines_before_the_damage_are_yielded_first(
    tmp_path: Path, limits: Callable[..., None]
) -> None:
    limits(CHUNK_BYTES=1000)
    content = b"".join(
        b"%d %s\n" % (n, Random(n).randbytes(40).hex().encode()) for n in range(1000)
    )
    path = tmp_path / "session.jsonl.gz"
    path.write_bytes(gzip.compress(content)[:-20_000])
    lines: Numbered = []
    with pytest.raises(UnreadableTranscript):
        lines.extend(read_lines(str(path)))
    assert len(lines) > 100
    assert lines == list(enumerate(content.split(b"\n"), 1))[: len(lines)]


def write_zst(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "session.jsonl.zst"
    path.write_bytes(content)
    return path


def test_all_lines_of_a_zstd_file_are_read(tmp_path: Path) -> None:
    content = b"".join(b"%d %s\n" % (n, b"x" * (n % 90)) for n in range(5000)) + b"no newline"
    path = write_zst(tmp_path, zstandard.compress(content))
    assert list(read_lines(str(path))) == list(enumerate(content.split(b"\n"), 1))
    assert list(read_lines(str(path), until_line=2)) == [(1, b"0 "), (2, b"1 x")]


def test_all_frames_of_a_zstd_file_are_read(tmp_path: Path) -> None:
    path = write_zst(tmp_path, zstandard.compress(b"a\n") + zstandard.compress(b"b\n"))
    assert list(read_lines(str(path))) == [(1, b"a"), (2, b"b")]


def damaged_zst_files(content: bytes) -> Iterator[tuple[str, bytes]]:
    compressed = zstandard.compress(content)
    yield "cut in the data", compressed[: len(compressed) // 2]
    yield "cut in the header", compressed[:5]
    yield "damaged", compressed[:6] + b"\xff" * 8 + compressed[14:]
    yield "not compressed", b'{"type":"user"}\n' * 10


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(content, id=damage)
        for damage, content in damaged_zst_files(Random(2).randbytes(4000))
    ],
)
def test_a_damaged_zstd_file_is_reported_as_unreadable(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(UnreadableTranscript, match=r"session\.jsonl\.zst"):
        list(read_lines(str(write_zst(tmp_path, content))))


def test_without_zstd_support_the_error_names_the_package_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_zst(tmp_path, zstandard.compress(b"a\n"))
    for name in ("compression", "compression.zstd", "zstandard"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UnreadableTranscript, match=r"cannot unpack \.zst") as error:
        list(read_lines(str(path)))
    assert "pip install zstandard" in error.value.hint
