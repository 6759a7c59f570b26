"""Reading resumes after the last line that was read, and every line is read once."""

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
from tests.unit.transcript.reading import Numbered, append, read_new_lines


def test_lines_are_numbered_from_one(file: Path) -> None:
    file.write_bytes(b"a\nb\n")
    assert read_new_lines(file)[0] == [(1, b"a"), (2, b"b")]


def test_a_cursor_yields_only_new_lines(file: Path) -> None:
    file.write_bytes(b"a\nb\n")
    _, cursor = read_new_lines(file)
    assert read_new_lines(file, cursor)[0] == []
    append(file, b"c\n")
    assert read_new_lines(file, cursor)[0] == [(3, b"c")]


def test_a_cursor_of_an_empty_file_stays_valid(file: Path) -> None:
    file.touch()
    lines, cursor = read_new_lines(file)
    assert lines == []
    append(file, b"a\n")
    transcript = TranscriptReader(str(file), cursor)
    assert not transcript.restarted
    assert list(transcript.lines()) == [(1, b"a")]


def test_an_incomplete_line_is_read_when_its_newline_is_written(file: Path) -> None:
    file.write_bytes(b'a\n{"half":')
    lines, cursor = read_new_lines(file)
    assert lines == [(1, b"a")]
    append(file, b"1")
    lines, cursor = read_new_lines(file, cursor)
    assert lines == []
    append(file, b"}\nc\n")
    assert read_new_lines(file, cursor)[0] == [(2, b'{"half":1}'), (3, b"c")]


def test_has_more_is_true_while_bytes_are_unread(file: Path) -> None:
    file.write_bytes(b"a\nhalf")
    transcript = TranscriptReader(str(file))
    assert transcript.has_more
    list(transcript.lines())
    assert transcript.has_more
    list(transcript.lines(finished=True))
    assert not transcript.has_more


def test_the_last_line_of_a_finished_file_needs_no_newline(file: Path) -> None:
    file.write_bytes(b"a\nb")
    assert read_new_lines(file, finished=True)[0] == [(1, b"a"), (2, b"b")]


def test_a_newline_written_after_the_last_line_is_no_line(file: Path) -> None:
    file.write_bytes(b"a\nb")
    _, cursor = read_new_lines(file, finished=True)
    append(file, b"\n")
    lines, cursor = read_new_lines(file, cursor)
    assert lines == []
    append(file, b"c\n")
    assert read_new_lines(file, cursor)[0] == [(3, b"c")]


def test_after_a_finished_last_line_an_empty_line_still_counts(file: Path) -> None:
    file.write_bytes(b"a")
    _, cursor = read_new_lines(file, finished=True)
    append(file, b"\n\nc\n")
    assert read_new_lines(file, cursor)[0] == [(2, b""), (3, b"c")]


def test_a_finished_file_read_twice_gives_its_last_line_once(file: Path) -> None:
    file.write_bytes(b"a")
    _, cursor = read_new_lines(file, finished=True)
    lines, cursor = read_new_lines(file, cursor, finished=True)
    assert lines == []
    append(file, b"\nb\n")
    assert read_new_lines(file, cursor)[0] == [(2, b"b")]


def truncate(file: Path) -> None:
    os.truncate(file, 2)


def replace(file: Path) -> None:
    other = file.with_suffix(".new")
    other.write_bytes(file.read_bytes())
    other.replace(file)


def rewrite_head(file: Path) -> None:
    with file.open("r+b") as stream:
        stream.write(b"x")


@pytest.mark.parametrize(
    ("change", "lines"),
    [
        (truncate, [(1, b"a")]),
        (replace, [(1, b"a"), (2, b"b"), (3, b"c")]),
        (rewrite_head, [(1, b"x"), (2, b"b"), (3, b"c")]),
    ],
)
def test_a_replaced_file_is_read_from_the_start(
    file: Path, change: Callable[[Path], None], lines: Numbered
) -> None:
    file.write_bytes(b"a\nb\nc\n")
    _, cursor = read_new_lines(file)
    change(file)
    transcript = TranscriptReader(str(file), cursor)
    assert transcript.restarted
    assert list(transcript.lines()) == lines
    assert not TranscriptReader(str(file), transcript.cursor()).restarted


def test_a_file_that_shrank_is_read_from_the_start(file: Path, limits: Callable[..., None]) -> None:
    limits(CHECKSUM_BYTES=2)
    file.write_bytes(b"a\nb\nc\n")
    _, cursor = read_new_lines(file)
    os.truncate(file, 4)
    transcript = TranscriptReader(str(file), cursor)
    assert transcript.restarted
    assert list(transcript.lines()) == [(1, b"a"), (2, b"b")]


def test_a_change_after_the_checksummed_head_does_not_restart_reading(
    file: Path, limits: Callable[..., None]
) -> None:
    limits(CHECKSUM_BYTES=2)
    file.write_bytes(b"a\nb\n")
    _, cursor = read_new_lines(file)
    with file.open("r+b") as stream:
        stream.seek(2)
        stream.write(b"x\ny\n")
    transcript = TranscriptReader(str(file), cursor)
    assert not transcript.restarted
    assert list(transcript.lines()) == [(3, b"y")]


def test_the_checksum_covers_only_complete_lines(file: Path) -> None:
    file.write_bytes(b"a\nhal")
    _, cursor = read_new_lines(file)
    # The incomplete line may still change.
    with file.open("r+b") as stream:
        stream.seek(2)
        stream.write(b"b\nc\n")
    assert read_new_lines(file, cursor)[0] == [(2, b"b"), (3, b"c")]


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
    assert read_new_lines(file)[0] == [(1, line), (2, line), (3, b"next")]


def test_a_line_longer_than_a_chunk_is_joined(file: Path, limits: Callable[..., None]) -> None:
    limits(CHUNK_BYTES=3)
    file.write_bytes(b"0123456789\nab\n\ncde\n")
    assert read_new_lines(file)[0] == [(1, b"0123456789"), (2, b"ab"), (3, b""), (4, b"cde")]


def test_a_line_that_is_too_long_is_skipped_but_counted(
    file: Path, limits: Callable[..., None]
) -> None:
    limits(CHUNK_BYTES=4, MAX_LINE_BYTES=10)
    file.write_bytes(b"a\n" + b"x" * 11 + b"\n" + b"y" * 10 + b"\n" + b"z" * 50 + b"\nb\n")
    transcript = TranscriptReader(str(file))
    assert list(transcript.lines()) == [(1, b"a"), (3, b"y" * 10), (5, b"b")]
    assert transcript.too_long == [2, 4]
    assert not transcript.has_more


def test_the_last_line_of_a_finished_file_is_skipped_if_it_is_too_long(
    file: Path, limits: Callable[..., None]
) -> None:
    limits(CHUNK_BYTES=4, MAX_LINE_BYTES=10)
    file.write_bytes(b"a\n" + b"x" * 30)
    transcript = TranscriptReader(str(file))
    assert list(transcript.lines(finished=True)) == [(1, b"a")]
    assert transcript.too_long == [2]
    append(file, b"\nb\n")
    assert read_new_lines(file, transcript.cursor())[0] == [(3, b"b")]


@pytest.mark.parametrize("compressed", [False, True])
def test_a_line_that_is_too_long_is_not_kept_in_memory(
    tmp_path: Path, limits: Callable[..., None], compressed: bool
) -> None:
    limits(CHUNK_BYTES=1 << 14, MAX_LINE_BYTES=1 << 16)
    content = b"x" * (8 << 20) + b"\nb\n"
    file = tmp_path / ("session.jsonl.gz" if compressed else "session.jsonl")
    file.write_bytes(gzip.compress(content, 1) if compressed else content)
    tracemalloc.start()
    try:
        assert list(read_lines(str(file))) == [(2, b"b")]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1 << 20


def test_reading_stops_between_chunks_and_the_next_reader_resumes(
    file: Path, limits: Callable[..., None]
) -> None:
    limits(CHUNK_BYTES=5)
    file.write_bytes(b"aa\nbb\ncc\ndd\n")
    transcript = TranscriptReader(str(file))
    assert list(transcript.lines(stop=lambda: True)) == [(1, b"aa")]
    assert transcript.has_more
    assert read_new_lines(file, transcript.cursor())[0] == [(2, b"bb"), (3, b"cc"), (4, b"dd")]


def test_reading_continues_while_stop_returns_false(
    file: Path, limits: Callable[..., None]
) -> None:
    limits(CHUNK_BYTES=3)
    file.write_bytes(b"aa\nbb\ncc\ndd\n")
    stop_values = iter([False, False, True])
    transcript = TranscriptReader(str(file))
    assert list(transcript.lines(stop=lambda: next(stop_values))) == [
        (1, b"aa"),
        (2, b"bb"),
        (3, b"cc"),
    ]


def test_a_line_of_several_chunks_is_read_to_its_end_before_stopping(
    file: Path, limits: Callable[..., None]
) -> None:
    """Otherwise a process with little time would read the same line again and again."""
    limits(CHUNK_BYTES=4)
    file.write_bytes(b"0123456789\nb\n")
    transcript = TranscriptReader(str(file))
    assert list(transcript.lines(stop=lambda: True)) == [(1, b"0123456789")]


def test_reading_stops_within_a_line_that_is_too_long(
    file: Path, limits: Callable[..., None]
) -> None:
    limits(CHUNK_BYTES=10, MAX_LINE_BYTES=30)
    file.write_bytes(b"x" * 1000 + b"\nb\n")
    transcript = TranscriptReader(str(file))
    assert list(transcript.lines(stop=lambda: True)) == []
    assert read_new_lines(file, transcript.cursor())[0] == [(2, b"b")]


def test_the_cursor_of_an_abandoned_reader_counts_only_yielded_lines(file: Path) -> None:
    file.write_bytes(b"a\nb\nc\n")
    transcript = TranscriptReader(str(file))
    next(transcript.lines())
    assert read_new_lines(file, transcript.cursor())[0] == [(2, b"b"), (3, b"c")]


contents = st.binary(max_size=200).map(lambda content: content.replace(b"\xff", b"\n"))
line_contents = st.lists(st.sampled_from([b"\n", b"a", b"bc", b"\r\n", b"\0", b"x" * 9])).map(
    b"".join
)


@settings(deadline=None)
@given(
    content=contents | line_contents,
    cuts=st.lists(st.integers(0, 200)),
    chunk=st.integers(1, 30),
    max_line=st.integers(1, 40),
    stop_early=st.booleans(),
)
def test_a_growing_file_gives_the_same_lines_as_the_complete_file(
    content: bytes, cuts: list[int], chunk: int, max_line: int, stop_early: bool
) -> None:
    expected = list(enumerate(content.split(b"\n"), 1))
    if not content or content.endswith(b"\n"):
        expected.pop()
    limits = patch.multiple(reader, CHUNK_BYTES=chunk, MAX_LINE_BYTES=max_line, CHECKSUM_BYTES=7)
    with limits, tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "session.jsonl"
        file.touch()
        lines: Numbered = []
        too_long: list[int] = []
        cursor: Cursor | None = None
        edges = sorted({min(cut, len(content)) for cut in cuts} | {len(content)})
        for start, end in zip([0, *edges], edges, strict=False):
            append(file, content[start:end])
            transcript = TranscriptReader(str(file), cursor)
            assert not transcript.restarted
            lines += transcript.lines(stop=lambda: stop_early)
            too_long += transcript.too_long
            cursor = json.loads(json.dumps(transcript.cursor()))
        last = TranscriptReader(str(file), cursor)
        lines += last.lines(finished=True)
        too_long += last.too_long
        assert last.offset == len(content)
    assert lines == [(number, line) for number, line in expected if len(line) <= max_line]
    assert too_long == [number for number, line in expected if len(line) > max_line]


# Skipping


def test_skipping_moves_to_the_first_line_that_begins_at_or_after_an_offset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [b"one\n", b"\n", b"three three\n", b"four\n", b"unfinished"]
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"".join(lines))
    starts = [sum(map(len, lines[:number])) for number in range(len(lines))]
    for chunk_bytes in (1, 2, 3, 5, 100):
        monkeypatch.setattr(reader, "CHUNK_BYTES", chunk_bytes)
        for offset in range(path.stat().st_size + 1):
            skipped = TranscriptReader(str(path))
            skipped.skip_to(offset)
            expected = [start for start in starts if start >= offset]
            if expected:
                assert skipped.offset == expected[0], (chunk_bytes, offset)
                assert skipped.line == starts.index(expected[0])
            else:
                assert [*skipped.lines(finished=True)] == []
