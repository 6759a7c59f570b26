"""A prompt hook waits for a compaction that the host has not yet written to its transcript."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from holdfast.hooks import prompt
from holdfast.hooks.prompt import MAX_WAITS
from holdfast.hosts import claude_code
from holdfast.store.sqlite import SQLiteStore
from tests.unit.services.compaction.test_status import NOW, record_sent_brief, session, store

__all__ = ["store"]


@pytest.mark.parametrize(
    ("written_after", "expected_reads"), [(1, 1), (3, 3), (100, 1 + MAX_WAITS)]
)
def test_a_prompt_hook_reads_the_transcript_a_limited_number_of_times(
    store: SQLiteStore, written_after: int, expected_reads: int
) -> None:
    record_sent_brief(store)
    reads = []

    def read_after_flush() -> Any:
        reads.append(1)
        return session(*[12] * (len(reads) >= written_after))

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
    assert len(reads) == expected_reads
