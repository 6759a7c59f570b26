"""Measures how much of real sub-agents' reports a handoff keeps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.handoff.mentions import FILE_KIND, Mention, extract_mentions
from holdfast.handoff.shorten import MAX_TOKENS, shorten
from holdfast.state.rules.subagents import START_TOOLS, _final_text
from holdfast.tokens.estimate import estimate_tokens
from holdfast.transcript.decoder import decode
from holdfast.transcript.reader import read_lines

CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus"
SESSIONS = sorted(
    path
    for path in (CORPUS.glob("*.jsonl.gz") if CORPUS.is_dir() else ())
    if "codex" not in path.name and "agent-" not in path.name
)
MIN_REPORTS = 50


def long_reports() -> Iterator[str]:
    """The reports of sub-agents in real sessions that are longer than a handoff may be."""
    for path in SESSIONS:
        calls: set[str] = set()
        for event in decode(read_lines(str(path))):
            if "agent" in event:
                continue
            if event["kind"] == "tool_call" and event["name"] in START_TOOLS:
                calls.add(event["id"])
            elif event["kind"] == "tool_result" and event["id"] in calls:
                detail = event.get("detail")
                result = detail if isinstance(detail, dict) else {}
                text = _final_text(result) or event.get("text", "")
                if result.get("status") != "async_launched" and estimate_tokens(text) > MAX_TOKENS:
                    yield text


def mentions_outside_code(text: str) -> set[Mention]:
    lines, in_fence = [], False
    for line in text.splitlines():
        if line.strip().startswith("```"):
            in_fence = not in_fence
        elif not in_fence:
            lines.append(line)
    return extract_mentions("\n".join(lines))


def is_kept(name: Mention, short: str) -> bool:
    kind, text = name
    return text in short or (kind == FILE_KIND and text.rpartition("/")[2] in short)


@pytest.mark.skipif(not SESSIONS, reason="the corpus of real sessions is not here")
def test_handoffs_keep_the_paths_and_most_names_of_real_reports() -> None:
    before = after = 0
    path_recalls: list[float] = []
    name_recalls: list[float] = []
    for text in long_reports():
        short = shorten(text)
        assert estimate_tokens(short) <= MAX_TOKENS
        before, after = before + estimate_tokens(text), after + estimate_tokens(short)
        mentions = mentions_outside_code(text)
        if paths := [name for name in mentions if name[0] == FILE_KIND]:
            path_recalls.append(sum(is_kept(name, short) for name in paths) / len(paths))
        if mentions:
            name_recalls.append(sum(is_kept(name, short) for name in mentions) / len(mentions))
    assert len(name_recalls) >= MIN_REPORTS
    recall = sum(path_recalls) / len(path_recalls), sum(name_recalls) / len(name_recalls)
    print(
        f"{len(name_recalls)} reports: {before:,} tokens become {after:,} "
        f"({1 - after / before:.0%} less); {recall[0]:.1%} of the paths and {recall[1]:.1%} of "
        f"all names outside of code are kept"
    )
    assert after < 0.25 * before
    assert recall[0] >= 0.99
    assert recall[1] >= 0.8
