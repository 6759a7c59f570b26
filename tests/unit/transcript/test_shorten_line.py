"""A long line is shortened in the middle of its strings and stays valid JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.transcript import reader
from holdfast.transcript.decoder import SHORTEN_ABOVE_BYTES, decode
from holdfast.transcript.reader import shorten_line
from tests.unit.transcript_lines import events_of, user

characters = st.sampled_from(["a", " ", "\n", '"', "\\", "é", "队", "🚀", "u", "\t", "/"])
texts = st.text(characters, max_size=80)
lines = st.fixed_dictionaries({"type": st.just("user"), "a": texts, "b": st.lists(texts)})


@given(lines, st.booleans(), st.integers(6, 20))
@example({"type": "user", "a": "\\🚀", "b": []}, False, 7)
def test_a_line_keeps_both_ends_of_its_strings(
    line: dict[str, object], unescaped: bool, end: int
) -> None:
    raw = json.dumps(line, ensure_ascii=not unescaped).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "KEPT_END_BYTES", (end,))
        short = json.loads(shorten_line(raw))
    assert short.keys() == line.keys()
    for whole, kept in zip([line["a"], *line["b"]], [short["a"], *short["b"]], strict=True):
        head, _, tail = kept.partition(" … ")
        assert whole.startswith(head)
        assert whole.endswith(tail)
        assert (
            kept == whole or len(json.dumps(whole, ensure_ascii=not unescaped).encode()) > 2 * end
        )
        assert kept.encode().decode() == kept, "no half of a character"


def test_both_ends_of_a_very_long_prompt_are_kept() -> None:
    text = "Begin. " + "never mind " * 500_000 + "Go on."
    (prompt,) = events_of(user(text))
    assert prompt["text"].startswith("Begin. never mind")
    assert prompt["text"].endswith("never mind Go on.")
    assert len(prompt["text"]) < 2 * reader.KEPT_END_BYTES[0] + 10


def test_with_many_long_strings_less_of_each_is_kept() -> None:
    texts = [f"Begin {number}. " + "never mind " * 40_000 + "Go on." for number in range(12)]
    raw = json.dumps({"type": "user", "message": {"content": texts}}).encode()
    kept = json.loads(shorten_line(raw))["message"]["content"]
    assert len(kept) == len(texts)
    assert all(text.startswith(f"Begin {number}. never") for number, text in enumerate(kept))
    assert all(text.endswith("mind Go on.") for text in kept)


def test_a_line_of_very_many_short_strings_is_a_bad_line() -> None:
    message = {"type": "user", "message": {"content": ["重试"] * 450_000}}
    line = json.dumps(message, ensure_ascii=False).encode()
    assert len(line) > SHORTEN_ABOVE_BYTES
    first, *_, last = decode([(1, line), (2, json.dumps(user("go on")).encode())])
    assert (first["kind"], first["line"]) == ("bad_line", 1)
    assert (last["kind"], last["line"]) == ("prompt", 2)


@pytest.mark.parametrize("raw", [b"", b'"', b"\\", b'"\\', b'"' * 99, b"\\" * 99, b"\xff" * 99])
def test_invalid_json_is_shortened_without_an_error(
    raw: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "KEPT_END_BYTES", (8,))
    assert len(shorten_line(raw)) <= len(raw)
