"""A line is shortened only in the middle of its texts, and stays what it is."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.transcript import long_lines
from holdfast.transcript.long_lines import shortened

from ..transcript_lines import events_of, user

signs = st.sampled_from(["a", " ", "\n", '"', "\\", "é", "队", "🚀", "u", "\t", "/"])
texts = st.text(signs, max_size=80)
lines = st.fixed_dictionaries({"type": st.just("user"), "a": texts, "b": st.lists(texts)})


@given(lines, st.booleans(), st.integers(6, 20))
@example({"type": "user", "a": "\\🚀", "b": []}, False, 7)
def test_a_line_keeps_both_ends_of_its_texts(
    line: dict[str, object], plain: bool, end: int
) -> None:
    raw = json.dumps(line, ensure_ascii=not plain).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_lines, "END", end)
        short = json.loads(shortened(raw))
    assert short.keys() == line.keys()
    for whole, kept in zip([line["a"], *line["b"]], [short["a"], *short["b"]], strict=True):
        head, _, tail = kept.partition(" … ")
        assert whole.startswith(head)
        assert whole.endswith(tail)
        assert kept == whole or len(json.dumps(whole, ensure_ascii=not plain).encode()) > 2 * end
        assert kept.encode().decode() == kept, "no half of a sign"


def test_of_a_very_long_prompt_both_ends_are_read() -> None:
    text = "Begin. " + "never mind " * 500_000 + "Go on."
    (prompt,) = events_of(user(text))
    assert prompt["text"].startswith("Begin. never mind")
    assert prompt["text"].endswith("never mind Go on.")
    assert len(prompt["text"]) < 2 * long_lines.END + 10


@pytest.mark.parametrize("raw", [b"", b'"', b"\\", b'"\\', b'"' * 99, b"\\" * 99, b"\xff" * 99])
def test_what_is_no_json_is_shortened_all_the_same(
    raw: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_lines, "END", 8)
    assert len(shortened(raw)) <= len(raw)
