"""A lookup in one transcript finds lines by ref or by text, within a budget."""

from __future__ import annotations

import gzip
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.demo import append_lines, load_demo
from holdfast.errors import NotFound, UnreadableTranscript
from holdfast.services.recall.lookup import Hit, look_up_in_file, render_hit
from holdfast.tokens.estimate import estimate_tokens

TOKEN = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1cD3fG5"


@pytest.fixture(scope="module")
def demo_transcript(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of the transcript of the demo session."""
    path = str(tmp_path_factory.mktemp("demo") / "session.jsonl")
    demo = load_demo("/srv/courier", "5e55a0ce-0000-4000-8000-000000000001", 1_760_000_000.0)
    append_lines(path, demo.before)
    append_lines(path, demo.after(demo.hook_attachment("brief")))
    return path


def message(text: str, role: str = "user") -> dict[str, Any]:
    content: Any = text if role == "user" else [{"type": "text", "text": text}]
    return {"type": role, "message": {"role": role, "content": content}}


def tool_result(text: str) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": "t", "content": text}
    return {"type": "user", "message": {"role": "user", "content": [block]}}


def write_transcript(path: Path, *lines: dict[str, Any] | str) -> str:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return str(path)


def test_a_ref_opens_exactly_its_line(tmp_path: Path) -> None:
    path = write_transcript(
        tmp_path / "t.jsonl", message("one"), message("two", "assistant"), tool_result("three")
    )
    assert look_up_in_file(path, "L2", 800).hits == [Hit("", 2, "reply", "two")]
    assert look_up_in_file(path, "L3", 800).hits == [Hit("", 3, "tool_result", "three")]


@pytest.mark.parametrize("ref", ["L2-3", "L2-L3", "(L2-3)", "l2 - l3", " L2–3 "])
def test_a_range_opens_exactly_its_lines(tmp_path: Path, ref: str) -> None:
    path = write_transcript(tmp_path / "t.jsonl", *[message(str(number)) for number in range(1, 6)])
    assert [hit.text for hit in look_up_in_file(path, ref, 800).hits] == ["2", "3"]


def test_every_line_of_the_demo_can_be_opened_by_its_ref(demo_transcript: str) -> None:
    with open(demo_transcript, "rb") as file:
        count = sum(1 for _ in file)
    for number in range(1, count + 1):
        assert {
            hit.line for hit in look_up_in_file(demo_transcript, f"L{number}", 100_000).hits
        } == {number}


def test_a_line_without_text_is_shown_verbatim(tmp_path: Path) -> None:
    path = write_transcript(
        tmp_path / "t.jsonl", {"type": "mode", "mode": "normal"}, "not JSON {", message("x")
    )
    assert look_up_in_file(path, "L1", 800).hits == [
        Hit("", 1, "line", '{"type": "mode", "mode": "normal"}')
    ]
    assert look_up_in_file(path, "L2", 800).hits == [Hit("", 2, "line", "not JSON {")]


@pytest.mark.parametrize("ref", ["L0", "L4", "L999999999", "L3-2", "L4-9"])
def test_a_missing_line_is_an_error(tmp_path: Path, ref: str) -> None:
    path = write_transcript(tmp_path / "t.jsonl", message("1"), message("2"), message("3"))
    with pytest.raises(NotFound, match="has no line"):
        look_up_in_file(path, ref, 800)


@pytest.mark.parametrize("query", ["L" + "9" * 5000, "L1-2-3", "LL1", "L٣"])
def test_text_that_only_looks_like_a_ref_is_searched(tmp_path: Path, query: str) -> None:
    path = write_transcript(tmp_path / "t.jsonl", message(f"I wrote {query} here"))
    assert [hit.line for hit in look_up_in_file(path, query, 100_000).hits] == [1]


def test_text_is_found_anywhere_in_a_line(demo_transcript: str) -> None:
    best = look_up_in_file(demo_transcript, "deadlocks with the scheduler", 800).hits[0]
    assert best.kind == "prompt"
    assert "we tried a global lock in March" in best.text


def test_an_exact_phrase_ranks_before_its_separate_words(tmp_path: Path) -> None:
    path = write_transcript(
        tmp_path / "t.jsonl",
        message("lock the global scheduler, global or not"),
        message("no global lock, please"),
        message("a lock that is global"),
    )
    assert look_up_in_file(path, "global lock", 800).hits[0].line == 2


def test_a_rare_word_ranks_before_a_common_word(tmp_path: Path) -> None:
    filler = [message(f"the worker and the queue {number}") for number in range(20)]
    path = write_transcript(tmp_path / "t.jsonl", *filler, message("jitter"), *filler)
    assert look_up_in_file(path, "the worker jitter", 800).hits[0].line == 21


def test_prompts_rank_before_tool_output(tmp_path: Path) -> None:
    path = write_transcript(
        tmp_path / "t.jsonl", message("use full jitter"), tool_result("def full jitter(): ...")
    )
    assert [hit.line for hit in look_up_in_file(path, "full jitter", 800).hits] == [1, 2]


def test_the_latest_of_equal_hits_is_first(tmp_path: Path) -> None:
    path = write_transcript(tmp_path / "t.jsonl", message("retry it now"), message("now retry it"))
    assert [hit.line for hit in look_up_in_file(path, "retry", 800).hits] == [2, 1]


def test_a_tool_call_is_found_by_its_command(demo_transcript: str) -> None:
    kinds = {
        hit.kind
        for hit in look_up_in_file(demo_transcript, "rm scripts/simulate_storm.py", 800).hits
    }
    assert "tool_call" in kinds


def test_symbols_are_found(tmp_path: Path) -> None:
    path = write_transcript(
        tmp_path / "t.jsonl", message("a => b"), message("done 🎉"), message("{}")
    )
    assert [hit.line for hit in look_up_in_file(path, "🎉", 800).hits] == [2]
    assert [hit.line for hit in look_up_in_file(path, "{}", 800).hits] == [3]


def test_no_match_gives_no_hits(demo_transcript: str) -> None:
    assert look_up_in_file(demo_transcript, "xylophone zeppelin", 800).hits == []


def test_a_query_of_100_kb_is_answered_quickly(tmp_path: Path) -> None:
    path = write_transcript(
        tmp_path / "t.jsonl", *[tool_result("all work and no play " * 5000)] * 20
    )
    many_words = " ".join(f"word{number}" for number in range(12_000))
    started = time.process_time()
    for query in (many_words, "jitter " * 15_000, "x" * 100_000):
        assert look_up_in_file(path, query, 800).hits == []
    assert time.process_time() - started < 5


@pytest.mark.parametrize("query", ["deploy", "token", "L1", TOKEN, TOKEN[8:30], "the key of"])
def test_a_secret_is_never_shown(tmp_path: Path, query: str) -> None:
    # Some excerpts around a hit begin or end within the secret.
    lines = [
        message(f"deploy {'x ' * count}the key of GITHUB_TOKEN={TOKEN} {'y ' * (200 - count)}token")
        for count in range(0, 200, 7)
    ]
    path = write_transcript(tmp_path / "t.jsonl", *lines)
    for budget in (20, 60, 800, 100_000):
        for hit in look_up_in_file(path, query, budget).hits:
            for start in range(len(TOKEN) - 7):
                assert TOKEN[start : start + 8] not in hit.text


def test_the_budget_is_respected(demo_transcript: str) -> None:
    for query in ["L1-237", "jitter", "the", "L160", "make test-fast"]:
        for budget in [10, 11, 25, 60, 300, 800, 5000]:
            hits, left_out, _ = look_up_in_file(demo_transcript, query, budget)
            assert hits, (query, budget)
            assert estimate_tokens("".join(map(render_hit, hits))) <= budget, (query, budget)
            if budget == 10:
                assert left_out or query == "L160", (query, budget)


@settings(max_examples=60, deadline=None)
@given(st.text(min_size=1, max_size=2000), st.integers(10, 400))
def test_the_budget_is_respected_for_any_text(text: str, budget: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write_transcript(Path(folder) / "t.jsonl", message(f"x {text}"), message("x y"))
        hits = look_up_in_file(path, "x", budget).hits
        assert estimate_tokens("".join(map(render_hit, hits))) <= budget


def test_a_first_hit_that_is_too_long_is_shortened(tmp_path: Path) -> None:
    path = write_transcript(tmp_path / "t.jsonl", message("word " * 5000))
    hits = look_up_in_file(path, "L1", 100).hits
    assert hits[0].text.startswith("word word")
    assert hits[0].text.endswith("…")
    assert estimate_tokens(render_hit(hits[0])) > 80


def test_hits_over_the_budget_are_counted(tmp_path: Path) -> None:
    path = write_transcript(tmp_path / "t.jsonl", *[message("some words here " * 5)] * 10)
    hits, left_out, _ = look_up_in_file(path, "L1-10", 100)
    assert len(hits) + left_out == 10
    assert 0 < len(hits) < 10


def test_a_compressed_transcript_gives_the_same_hits(demo_transcript: str, tmp_path: Path) -> None:
    compressed = tmp_path / "session.jsonl.gz"
    with open(demo_transcript, "rb") as file:
        compressed.write_bytes(gzip.compress(file.read()))
    for query in ("L160", "global lock"):
        assert look_up_in_file(str(compressed), query, 800) == look_up_in_file(
            demo_transcript, query, 800
        )


def test_a_missing_transcript_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnreadableTranscript):
        look_up_in_file(str(tmp_path / "missing.jsonl"), "word", 800)
