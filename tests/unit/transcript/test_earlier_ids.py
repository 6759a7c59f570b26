"""Loading the ids of messages before the cursor, without keeping long lines in memory."""

from __future__ import annotations

import tempfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.transcript import reader
from holdfast.transcript.reader import TranscriptReader
from tests.unit.transcript.reading import append


def load_ids(file: Path) -> set[str]:
    transcript = TranscriptReader(str(file))
    list(transcript.lines())
    return transcript.earlier_ids_loader()()


def message(ident: str, filler: int = 0) -> bytes:
    return b'{"x":"%s","uuid":"%s","y":1}\n' % (b"-" * filler, ident.encode())


@settings(deadline=None)
@given(chunk=st.integers(1, 60), fillers=st.lists(st.integers(0, 70), max_size=12))
def test_ids_are_found_wherever_a_chunk_ends(chunk: int, fillers: list[int]) -> None:
    lines = [message(f"id-{number}", filler) for number, filler in enumerate(fillers)]
    with tempfile.TemporaryDirectory() as folder, patch.object(reader, "CHUNK_BYTES", chunk):
        file = Path(folder) / "session.jsonl"
        file.write_bytes(b"".join(lines))
        assert load_ids(file) == {f"id-{number}" for number in range(len(fillers))}


def test_only_ids_before_the_cursor_are_loaded(file: Path) -> None:
    file.write_bytes(message("a") + message("b"))
    first = TranscriptReader(str(file))
    list(first.lines())
    append(file, message("c"))
    transcript = TranscriptReader(str(file), first.cursor())
    load_earlier_ids = transcript.earlier_ids_loader()
    assert [number for number, _ in transcript.lines()] == [3]
    assert load_earlier_ids() == {"a", "b"}


def test_a_long_line_before_an_id_is_not_kept_in_memory(
    file: Path, limits: Callable[..., None]
) -> None:
    limits(CHUNK_BYTES=1 << 14)
    file.write_bytes(message("a", 8 << 20) + message("b"))
    transcript = TranscriptReader(str(file))
    transcript.offset = file.stat().st_size
    tracemalloc.start()
    try:
        assert transcript.earlier_ids_loader()() == {"a", "b"}
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1 << 20


def test_a_long_line_after_an_id_is_not_kept_in_memory(
    file: Path, limits: Callable[..., None]
) -> None:
    limits(CHUNK_BYTES=1 << 14)
    file.write_bytes(b'{"uuid":"a","x":"' + b"-" * (8 << 20) + b'"}\n')
    transcript = TranscriptReader(str(file))
    transcript.offset = file.stat().st_size
    tracemalloc.start()
    try:
        assert transcript.earlier_ids_loader()() == {"a"}
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1 << 20
