"""Which messages stand before the cursor, found without holding long lines."""

from __future__ import annotations

import tempfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.transcript import reader
from holdfast.transcript.reader import Reader
from tests.unit.transcript.reading import append


def identities(file: Path) -> set[str]:
    it = Reader(str(file))
    list(it.lines())
    return it.earlier()()


def message(ident: str, filler: int = 0) -> bytes:
    return b'{"x":"%s","uuid":"%s","y":1}\n' % (b"-" * filler, ident.encode())


@settings(deadline=None)
@given(chunk=st.integers(1, 60), fillers=st.lists(st.integers(0, 70), max_size=12))
def test_identities_are_found_wherever_a_chunk_ends(chunk: int, fillers: list[int]) -> None:
    lines = [message(f"id-{number}", filler) for number, filler in enumerate(fillers)]
    with tempfile.TemporaryDirectory() as folder, patch.object(reader, "CHUNK", chunk):
        file = Path(folder) / "session.jsonl"
        file.write_bytes(b"".join(lines))
        assert identities(file) == {f"id-{number}" for number in range(len(fillers))}


def test_only_what_stands_before_the_cursor_is_earlier(file: Path) -> None:
    file.write_bytes(message("a") + message("b"))
    first = Reader(str(file))
    list(first.lines())
    append(file, message("c"))
    it = Reader(str(file), first.cursor())
    asked = it.earlier()
    assert [number for number, _ in it.lines()] == [3]
    assert asked() == {"a", "b"}


def test_looking_for_identities_holds_no_long_line_in_memory(
    file: Path, limits: Callable[..., None]
) -> None:
    limits(CHUNK=1 << 14)
    file.write_bytes(message("a", 8 << 20) + message("b"))
    it = Reader(str(file))
    it.offset = file.stat().st_size
    tracemalloc.start()
    try:
        assert it.earlier()() == {"a", "b"}
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1 << 20


def test_a_long_tail_after_an_identity_is_not_kept_either(
    file: Path, limits: Callable[..., None]
) -> None:
    limits(CHUNK=1 << 14)
    file.write_bytes(b'{"uuid":"a","x":"' + b"-" * (8 << 20) + b'"}\n')
    it = Reader(str(file))
    it.offset = file.stat().st_size
    tracemalloc.start()
    try:
        assert it.earlier()() == {"a"}
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1 << 20
