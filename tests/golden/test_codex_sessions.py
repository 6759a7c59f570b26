"""The state of real Codex sessions, compared with the events that the client logs itself."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.services.recall.from_file import load_state

CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus"
SESSIONS = sorted(CORPUS.glob("*codex*.jsonl.gz")) if CORPUS.is_dir() else []
pytestmark = [
    pytest.mark.skipif(not SESSIONS, reason="the corpus of real sessions is not here"),
    pytest.mark.parametrize("path", SESSIONS or [None], ids=lambda path: path and path.name[:40]),
]


def lines(path: Path, kind: str) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for text in file:
            try:
                line = json.loads(text)
            except ValueError:
                continue
            if line["type"] == kind:
                yield line["payload"]


def screen_events(path: Path, kind: str) -> list[dict[str, Any]]:
    """The events of one type that the client logged for its screen."""
    return [payload for payload in lines(path, "event_msg") if payload["type"] == kind]


def test_the_requests_are_the_prompts_that_the_user_typed(path: Path) -> None:
    typed = [event["message"].strip() for event in screen_events(path, "user_message")]
    requests = [request["text"] for request in load_state(str(path))["requests"]]
    # Long requests are shortened in the middle.
    assert [text[:300] for text in requests] == [text[:300] for text in typed]


def test_every_file_of_an_applied_patch_is_in_the_trail(path: Path) -> None:
    state = load_state(str(path))
    root = state["place"]["root"] + "/"
    applied = [event for event in screen_events(path, "patch_apply_end") if event["success"]]
    patched = {name.removeprefix(root) for event in applied for name in event["changes"]}
    assert patched - {name for name, trail in state["files"].items() if trail.get("edits")} == set()


def test_compactions_and_token_usage_match_the_clients_log(path: Path) -> None:
    state = load_state(str(path))
    boundaries = [payload["window_id"] for payload in lines(path, "compacted")]
    assert [compaction["id"] for compaction in state["compactions"]] == boundaries
    (*_, last) = (event["info"] for event in screen_events(path, "token_count") if event["info"])
    assert state["usage"]["context"] == last["last_token_usage"]["input_tokens"]
    assert state["usage"]["window"] == last["model_context_window"]


def test_no_line_is_reported_as_unreadable(path: Path) -> None:
    assert load_state(str(path))["bad_lines"] == []
