"""How long a prompt hook waits for a compaction that the transcript does not show yet."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from holdfast.hooks import prompt
from holdfast.hooks.prompt import MAX_WAITS
from holdfast.hosts import claude_code
from holdfast.store.sqlite import SQLiteStore
from tests.unit.services.compaction.test_status import NOW, sent, session, store

__all__ = ["store"]


@pytest.mark.parametrize(("written_after", "looks"), [(1, 1), (3, 3), (100, 1 + MAX_WAITS)])
def test_a_prompt_hook_waits_a_limited_time_for_the_transcript_to_show_a_compaction(
    store: SQLiteStore, written_after: int, looks: int
) -> None:
    sent(store)
    looked = []

    def read_after_flush() -> Any:
        looked.append(1)
        return session(*[12] * (len(looked) >= written_after))

    run: Any = SimpleNamespace(
        store=store,
        host=SimpleNamespace(
            TRANSCRIPT_MARKS_COMPACTION=True, render_context=claude_code.render_context
        ),
        event=SimpleNamespace(prompt="", name="UserPromptSubmit", agent_id="", session_id="s"),
        now=NOW + 1,
        read_session=session,
        read_session_after_flush=read_after_flush,
    )
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(prompt, "render_with_messages", lambda *_: "")
        patched.setattr(prompt, "find_undelivered", lambda *_: 0)
        prompt.user_prompt(run)
    assert len(looked) == looks
