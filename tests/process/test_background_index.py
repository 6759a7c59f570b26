"""Hooks start a background process that updates the search index."""

from __future__ import annotations

import json

import pytest

from holdfast.hooks.background_index import MIN_NEW_BYTES
from holdfast.search.index_db import SearchIndex

from .hook_session import HookSession
from .waiting import wait_until


def append_large_prompt(session: HookSession, word: str) -> None:
    """Append more bytes than a hook needs to start the background process."""
    line = {"type": "user", "message": {"role": "user", "content": f"{word} {'x ' * 5000}"}}
    with session.transcript.open("a", encoding="utf-8") as file:
        file.write(f"{json.dumps(line)}\n" * (MIN_NEW_BYTES // 10_000 + 5))


def wait_until_indexed(session: HookSession) -> int:
    """Wait until the index has the whole transcript, and return the transcript's size."""
    size = session.transcript.stat().st_size

    def is_indexed() -> bool:
        if not (session.home / "recall.db").exists():
            return False
        with SearchIndex(str(session.home / "recall.db")) as index:
            row = index.fetch_one("transcript", (session.session_id,))
        return row is not None and row["size"] == size

    wait_until(is_indexed, "the transcript was not indexed")
    return size


@pytest.mark.parametrize("event", ["Stop", "PreCompact"])
def test_a_hook_starts_an_index_update_when_much_is_new(session: HookSession, event: str) -> None:
    session.write(session.demo.before)
    assert session.run_hook("Stop").is_silent
    assert not (session.home / "recall.db").exists(), "too little is new to start a process"
    for word in ("obelisk", "monolith"):
        append_large_prompt(session, word)
        assert session.run_hook(event).exit_code == 0
        assert wait_until_indexed(session) > MIN_NEW_BYTES
