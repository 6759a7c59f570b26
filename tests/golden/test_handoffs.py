"""What handoffs keep of real sub-agents' reports, measured."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.handoff.shorten import MAX_TOKENS, shorten
from holdfast.mentions.extract import FILE_KIND, Mention, extract_mentions
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
LEAST = 50


def reports() -> Iterator[str]:
    """What sub-agents gave back in real sessions, where it is above the limit."""
    for path in SESSIONS:
        calls: set[str] = set()
        for event in decode(read_lines(str(path))):
            if "agent" in event:
                continue
            if event["kind"] == "tool_call" and event["name"] in START_TOOLS:
                calls.add(event["id"])
            elif event["kind"] == "tool_result" and event["id"] in calls:
                detail = event.get("detail")
                told = detail if isinstance(detail, dict) else {}
                text = _final_text(told) or event.get("text", "")
                if told.get("status") != "async_launched" and estimate_tokens(text) > MAX_TOKENS:
                    yield text


def outside_of_code(text: str) -> set[Mention]:
    kept, fenced = [], False
    for line in text.splitlines():
        if line.strip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            kept.append(line)
    return extract_mentions("\n".join(kept))


def is_kept(name: Mention, short: str) -> bool:
    kind, text = name
    return text in short or (kind == FILE_KIND and text.rpartition("/")[2] in short)


@pytest.mark.skipif(not SESSIONS, reason="the corpus of real sessions is not here")
def test_reports_of_real_sub_agents_keep_their_paths_and_most_of_their_names() -> None:
    before = after = 0
    files: list[float] = []
    everything: list[float] = []
    for text in reports():
        short = shorten(text)
        assert estimate_tokens(short) <= MAX_TOKENS
        before, after = before + estimate_tokens(text), after + estimate_tokens(short)
        named = outside_of_code(text)
        if paths := [name for name in named if name[0] == FILE_KIND]:
            files.append(sum(is_kept(name, short) for name in paths) / len(paths))
        if named:
            everything.append(sum(is_kept(name, short) for name in named) / len(named))
    assert len(everything) >= LEAST
    recall = sum(files) / len(files), sum(everything) / len(everything)
    print(
        f"{len(everything)} reports: {before:,} tokens become {after:,} "
        f"({1 - after / before:.0%} less); {recall[0]:.1%} of the paths and {recall[1]:.1%} of "
        f"all names outside of code are kept"
    )
    assert after < 0.25 * before
    assert recall[0] >= 0.99
    assert recall[1] >= 0.8
