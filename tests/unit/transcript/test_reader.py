"""Lines are read from where the last reader stopped, as bytes, and never twice."""

from __future__ import annotations

import gzip
import json
import os
import tempfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.transcript import reader
from holdfast.transcript.reader import TranscriptReader, read_lines
from holdfast.transcript.types import Cursor
from tests.unit.transcript.reading import Numbered, append, read_on


def test_lines_are_numbered_from_one(file: Path) -> None:
    file.write_bytes(b"a\nb\n")
    assert read_on(file)[0] == [(1, b"a"), (2, b"b")]


def test_a_cursor_yields_only_new_lines(file: Path) -> None:
    file.write_bytes(b"a\nb\n")
    _, cursor = read_on(file)
    assert read_on(file, cursor)[0] == []
    append(file, b"c\n")
    assert read_on(file, cursor)[0] == [(3, b"c")]


def test_a_cursor_of_an_empty_file_stays_valid(file: Path) -> None:
    file.touch()
    lines, cursor = read_on(file)
    assert lines == []
    append(file, b"a\n")
    again = TranscriptReader(str(file), cursor)
    assert not again.restarted
    assert list(again.lines()) == [(1, b"a")]


def test_a_line_that_is_still_being_written_waits_for_its_newline(file: Path) -> None:
    file.write_bytes(b'a\n{"half":')
    lines, cursor = read_on(file)
    assert lines == [(1, b"a")]
    append(file, b"1")
    lines, cursor = read_on(file, cursor)
    assert lines == []
    append(file, b"}\nc\n")
    assert read_on(file, cursor)[0] == [(2, b'{"half":1}'), (3, b"c")]


def test_has_more_is_true_while_bytes_are_unread(file: Path) -> None:
    file.write_bytes(b"a\nhalf")
    it = TranscriptReader(str(file))
    assert it.has_more
    list(it.lines())
    assert it.has_more
    list(it.lines(finished=True))
    assert not it.has_more


def test_the_last_line_of_a_finished_file_needs_no_newline(file: Path) -> None:
    file.write_bytes(b"a\nb")
    assert read_on(file, finished=True)[0] == [(1, b"a"), (2, b"b")]


def test_a_late_newline_is_not_a_line_of_its_own(file: Path) -> None:
    file.write_bytes(b"a\nb")
    _, cursor = read_on(file, finished=True)
    append(file, b"\n")
    lines, cursor = read_on(file, cursor)
    assert lines == []
    append(file, b"c\n")
    assert read_on(file, cursor)[0] == [(3, b"c")]


def test_after_a_finished_last_line_an_empty_line_still_counts(file: Path) -> None:
    file.write_bytes(b"a")
    _, cursor = read_on(file, finished=True)
    append(file, b"\n\nc\n")
    assert read_on(file, cursor)[0] == [(2, b""), (3, b"c")]


def test_a_finished_file_read_twice_gives_its_last_line_once(file: Path) -> None:
    file.write_bytes(b"a")
    _, cursor = read_on(file, finished=True)
    lines, cursor = read_on(file, cursor, finished=True)
    assert lines == []
    append(file, b"\nb\n")
    assert read_on(file, cursor)[0] == [(2, b"b")]


def shrink(file: Path) -> None:
    os.truncate(file, 2)


def replace(file: Path) -> None:
    other = file.with_suffix(".new")
    other.write_bytes(file.read_bytes())
    other.replace(file)


def rewrite_head(file: Path) -> None:
    with file.open("r+b") as stream:
        stream.write(b"x")


@pytest.mark.parametrize(
    ("happens", "lines"),
    [
        (shrink, [(1, b"a")]),
        (replace, [(1, b"a"), (2, b"b"), (3, b"c")]),
        (rewrite_head, [(1, b"x"), (2, b"b"), (3, b"c")]),
    ],
)
def test_a_replaced_file_is_read_from_the_start(
    file: Path, happens: Callable[[Path], None], lines: Numbered
) -> None:
    file.write_bytes(b"a\nb\nc\n")
    _, cursor = read_on(file)
    happens(file)
    it = TranscriptReader(str(file), cursor)
    assert it.restarted
    assert list(it.lines()) == lines
    assert not TranscriptReader(str(file), it.cursor()).restarted


def test_a_file_that_shrank_is_read_from_the_start(file: Path, limits: Callable[..., None]) -> None:
    limits(CHECKSUM_BYTES=2)
    file.write_bytes(b"a\nb\nc\n")
    _, cursor = read_on(file)
    os.truncate(file, 4)
    it = TranscriptReader(str(file), cursor)
    assert it.restarted
    assert list(it.lines()) == [(1, b"a"), (2, b"b")]


def test_a_change_after_the_checksummed_head_is_the_same_file(
    file: Path, limits: Callable[..., None]
) -> None:
    limits(CHECKSUM_BYTES=2)
    file.write_bytes(b"a\nb\n")
    _, cursor = read_on(file)
    with file.open("r+b") as stream:
        stream.seek(2)
        stream.write(b"x\ny\n")
    it = TranscriptReader(str(file), cursor)
    assert not it.restarted
    assert list(it.lines()) == [(3, b"y")]


def test_the_checksum_covers_only_what_was_read(file: Path) -> None:
    file.write_bytes(b"a\nhal")
    _, cursor = read_on(file)
    # Only complete lines are covered: the rest may still change.
    with file.open("r+b") as stream:
        stream.seek(2)
        stream.write(b"b\nc\n")
    assert read_on(file, cursor)[0] == [(2, b"b"), (3, b"c")]


def test_a_new_reader_without_a_cursor_has_not_restarted(file: Path) -> None:
    file.write_bytes(b"a\n")
    assert not TranscriptReader(str(file)).restarted
    assert not TranscriptReader(str(file), {}).restarted


@pytest.mark.parametrize(
    "line",
    [
        b"with carriage return\r",
        b"\xef\xbb\xbfwith a byte order mark",
        b"with \x00 NUL \x00",
        b"\xff\xfe\xc3( not UTF-8",
        b"with \x0b\x0c\x1c\x85 and \xe2\x80\xa8 other line ends",
        b"",
        b"   ",
    ],
)
def test_only_a_newline_ends_a_line_and_bytes_are_unchanged(file: Path, line: bytes) -> None:
    file.write_bytes(line + b"\n" + line + b"\nnext\n")
    assert read_on(file)[0] == [(1, line), (2, line), (3, b"next")]


def test_a_line_longer_than_a_chunk_is_joined(file: Path, limits: Callable[..., None]) -> None:
    limits(CHUNK_BYTES=3)
    file.write_bytes(b"0123456789\nab\n\ncde\n")
    assert read_on(file)[0] == [(1, b"0123456789"), (2, b"ab"), (3, b""), (4, b"cde")]


def test_a_line_that_is_too_long_is_skipped_but_counted(
    file: Path, limits: Callable[..., None]
) -> None:
    limits(CHUNK_BYTES=4, MAX_LINE_BYTES=10)
    file.write_bytes(b"a\n" + b"x" * 11 + b"\n" + b"y" * 10 + b"\n" + b"z" * 50 + b"\nb\n")
    it = TranscriptReader(str(file))
    assert list(it.lines()) == [(1, b"a"), (3, b"y" * 10), (5, b"b")]
    assert it.too_long == [2, 4]
    assert not it.has_more


def test_a_line_that_is_too_long_may_also_be_the_last_of_a_finished_file(
    file: Path, limits: Callable[..., None]
) -> None:
    limits(CHUNK_BYTES=4, MAX_LINE_BYTES=10)
    file.write_bytes(b"a\n" + b"x" * 30)
    it = TranscriptReader(str(file))
    assert list(it.lines(finished=True)) == [(1, b"a")]
    assert it.too_long == [2]
    append(file, b"\nb\n")
    assert read_on(file, it.cursor())[0] == [(3, b"b")]


@pytest.mark.parametrize("packed", [False, True])
def test_a_line_that_is_too_long_is_not_kept_in_memory(
    tmp_path: Path, limits: Callable[..., None], packed: bool
) -> None:
    limits(CHUNK_BYTES=1 << 14, MAX_LINE_BYTES=1 << 16)
    content = b"x" * (8 << 20) + b"\nb\n"
    file = tmp_path / ("session.jsonl.gz" if packed else "session.jsonl")
    file.write_bytes(gzip.compress(content, 1) if packed else content)
    tracemalloc.start()
    try:
        assert list(read_lines(str(file))) == [(2, b"b")]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1 << 20


def test_reading_stops_between_chunks_and_the_next_reader_goes_on(
    file: Path, limits: Callable[..., None]
) -> None:
    limits(CHUNK_BYTES=5)
    file.write_bytes(b"aa\nbb\ncc\ndd\n")
    it = TranscriptReader(str(file))
    assert list(it.lines(stop=lambda: True)) == [(1, b"aa")]
    assert it.has_more
    assert read_on(file, it.cursor())[0] == [(2, b"bb"), (3, b"cc"), (4, b"dd")]


def test_reading_continues_while_stop_returns_false(
    file: Path, limits: Callable[..., None]
) -> None:
    limits(CHUNK_BYTES=3)
    file.write_bytes(b"aa\nbb\ncc\ndd\n")
    answers = iter([False, False, True])
    it = TranscriptReader(str(file))
    assert list(it.lines(stop=lambda: next(answers))) == [(1, b"aa"), (2, b"bb"), (3, b"cc")]


def test_a_line_of_several_chunks_is_read_to_its_end_before_stopping(
    file: Path, limits: Callable[..., None]
) -> None:
    """Otherwise a slow machine would never get past that line."""
    limits(CHUNK_BYTES=4)
    file.write_bytes(b"0123456789\nb\n")
    it = TranscriptReader(str(file))
    assert list(it.lines(stop=lambda: True)) == [(1, b"0123456789")]


def test_a_line_without_end_does_not_outlast_the_deadline(
    file: Path, limits: Callable[..., None]
) -> None:
    limits(CHUNK_BYTES=10, MAX_LINE_BYTES=30)
    file.write_bytes(b"x" * 1000 + b"\nb\n")
    it = TranscriptReader(str(file))
    assert list(it.lines(stop=lambda: True)) == []
    assert read_on(file, it.cursor())[0] == [(2, b"b")]


def test_the_cursor_of_an_abandoned_reader_counts_only_yielded_lines(file: Path) -> None:
    file.write_bytes(b"a\nb\nc\n")
    it = TranscriptReader(str(file))
    next(it.lines())
    assert read_on(file, it.cursor())[0] == [(2, b"b"), (3, b"c")]


contents = st.binary(max_size=200).map(lambda some: some.replace(b"\xff", b"\n"))
lined = st.lists(st.sampled_from([b"\n", b"a", b"bc", b"\r\n", b"\0", b"x" * 9])).map(b"".join)


@settings(deadline=None)
@given(
    content=contents | lined,
    cuts=st.lists(st.integers(0, 200)),
    chunk=st.integers(1, 30),
    longest=st.integers(1, 40),
    hasty=st.booleans(),
)
def test_a_file_read_in_pieces_gives_the_lines_of_the_whole(
    content: bytes, cuts: list[int], chunk: int, longest: int, hasty: bool
) -> None:
    expected = list(enumerate(content.split(b"\n"), 1))
    if not content or content.endswith(b"\n"):
        expected.pop()
    limits = patch.multiple(reader, CHUNK_BYTES=chunk, MAX_LINE_BYTES=longest, CHECKSUM_BYTES=7)
    with limits, tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "session.jsonl"
        file.touch()
        got: Numbered = []
        too_long: list[int] = []
        cursor: Cursor | None = None
        edges = sorted({min(cut, len(content)) for cut in cuts} | {len(content)})
        for start, end in zip([0, *edges], edges, strict=False):
            append(file, content[start:end])
            it = TranscriptReader(str(file), cursor)
            assert not it.restarted
            got += it.lines(stop=lambda: hasty)
            too_long += it.too_long
            cursor = json.loads(json.dumps(it.cursor()))
        last = TranscriptReader(str(file), cursor)
        got += last.lines(finished=True)
        too_long += last.too_long
        assert last.offset == len(content)
    assert got == [(number, line) for number, line in expected if len(line) <= longest]
    assert too_long == [number for number, line in expected if len(line) > longest]
