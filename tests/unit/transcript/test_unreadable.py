"""A path that is no readable file raises an error with the reason, without blocking."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from holdfast.errors import UnreadableTranscript
from holdfast.transcript.reader import TranscriptReader, read_lines
from tests.unit.transcript.reading import read_new_lines


def make_fifo(path: Path) -> None:
    os.mkfifo(path)


def make_symlink_loop(path: Path) -> None:
    path.symlink_to(path)


def make_dangling_symlink(path: Path) -> None:
    path.symlink_to(path.with_name("gone"))


def leave_missing(path: Path) -> None:
    assert not path.exists()


@pytest.mark.parametrize(
    ("prepare", "reason"),
    [
        (Path.mkdir, "is not a regular file"),
        (make_fifo, "is not a regular file"),
        (make_symlink_loop, "Too many levels of symbolic links"),
        (make_dangling_symlink, "No such file or directory"),
        (leave_missing, "No such file or directory"),
    ],
)
@pytest.mark.parametrize("name", ["session.jsonl", "session.jsonl.gz"])
def test_a_path_that_is_no_regular_file_raises_an_error_at_once(
    tmp_path: Path, prepare: Callable[[Path], None], reason: str, name: str
) -> None:
    path = tmp_path / name
    prepare(path)
    with open_writer(path), pytest.raises(UnreadableTranscript, match=f"{name}.*{reason}"):
        next(read_lines(str(path)))


@contextmanager
def open_writer(path: Path) -> Iterator[None]:
    """Write to a pipe, so that a reader that opens it would not block but read the content."""
    if not path.is_fifo():
        yield
        return
    descriptor = os.open(path, os.O_RDWR)
    os.write(descriptor, b"a\n" * 100)
    yield
    os.close(descriptor)


@pytest.mark.parametrize("path", ["", "\0", "\ud800", "x" * 5000])
def test_an_invalid_path_raises_an_error(path: str) -> None:
    with pytest.raises(UnreadableTranscript):
        TranscriptReader(path)


def test_a_file_that_vanishes_before_it_is_read_is_an_error(file: Path) -> None:
    file.write_bytes(b"a\n")
    transcript = TranscriptReader(str(file))
    file.unlink()
    with pytest.raises(UnreadableTranscript, match=r"session\.jsonl"):
        next(transcript.lines())


def test_a_symlink_to_a_transcript_is_read(tmp_path: Path, file: Path) -> None:
    file.write_bytes(b"a\n")
    link = tmp_path / "link"
    link.symlink_to(file)
    assert read_new_lines(link)[0] == [(1, b"a")]
