"""Real hooks start a real process that fills the index, and do not wait for it."""

from __future__ import annotations

import json
import time

import pytest

from holdfast.hooks.background_index import MIN_NEW_BYTES
from holdfast.search.index_db import SearchIndex

from .scene import Scene

PATIENCE = 60.0


def grow(scene: Scene, word: str) -> None:
    """More than enough to be worth a process."""
    line = {"type": "user", "message": {"role": "user", "content": f"{word} {'x ' * 5000}"}}
    with scene.transcript.open("a", encoding="utf-8") as file:
        file.write(f"{json.dumps(line)}\n" * (MIN_NEW_BYTES // 10_000 + 5))


def indexed(scene: Scene) -> int:
    """How much of the session's transcript the index holds, once it holds any more than that."""
    end = time.monotonic() + PATIENCE
    size = scene.transcript.stat().st_size
    while time.monotonic() < end:
        if (scene.home / "recall.db").exists():
            with SearchIndex(str(scene.home / "recall.db")) as index:
                row = index.fetch_one("transcript", (scene.session,))
                if row is not None and row["size"] == size:
                    return size
        time.sleep(0.05)
    return -1


@pytest.mark.parametrize("event", ["Stop", "PreCompact"])
def test_a_hook_starts_an_index_refresh_when_much_is_new(scene: Scene, event: str) -> None:
    scene.write(scene.demo.before)
    assert scene.fire("Stop").is_silent
    assert not (scene.home / "recall.db").exists(), "so little is read by the next lookup"
    for word in ("obelisk", "monolith"):
        grow(scene, word)
        assert scene.fire(event).code == 0
        assert indexed(scene) > MIN_NEW_BYTES
