"""Something that is no transcript is refused at once, with an error that says why."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from holdfast.errors import UnreadableTranscript
from holdfast.transcript.reader import TranscriptReader, read_lines
from tests.unit.transcript.reading import read_on


def fifo(path: Path) -> None:
    os.mkfifo(path)


def loop(path: Path) -> None:
    path.symlink_to(path)


def dangling(path: Path) -> None:
    path.symlink_to(path.with_name("gone"))


def missing(path: Path) -> None:
    assert not path.exists()


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (Path.mkdir, "is not a regular file"),
        (fifo, "is not a regular file"),
        (loop, "Too many levels of symbolic links"),
        (dangling, "No such file or directory"),
        (missing, "No such file or directory"),
    ],
)
@pytest.mark.parametrize("name", ["session.jsonl", "session.jsonl.gz"])
def test_something_other_than_a_file_is_refused_at_once(
    tmp_path: Path, make: Callable[[Path], None], why: str, name: str
) -> None:
    path = tmp_path / name
    make(path)
    with held_open(path), pytest.raises(UnreadableTranscript, match=f"{name}.*{why}"):
        next(read_lines(str(path)))


@contextmanager
def held_open(path: Path) -> Iterator[None]:
    """A writer at the other end of a pipe: a reader that opens it must fail, not wait for ever."""
    if not path.is_fifo():
        yield
        return
    end = os.open(path, os.O_RDWR)
    os.write(end, b"a\n" * 100)
    yield
    os.close(end)


@pytest.mark.parametrize("path", ["", "\0", "\ud800", "x" * 5000])
def test_an_invalid_path_is_refused(path: str) -> None:
    with pytest.raises(UnreadableTranscript):
        TranscriptReader(path)


def test_a_file_that_vanishes_before_it_is_read_is_an_error(file: Path) -> None:
    file.write_bytes(b"a\n")
    it = TranscriptReader(str(file))
    file.unlink()
    with pytest.raises(UnreadableTranscript, match=r"session\.jsonl"):
        next(it.lines())


def test_a_link_to_a_transcript_is_read(tmp_path: Path, file: Path) -> None:
    file.write_bytes(b"a\n")
    link = tmp_path / "link"
    link.symlink_to(file)
    assert read_on(link)[0] == [(1, b"a")]
