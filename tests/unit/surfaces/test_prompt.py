"""How long a prompt waits for what the client has not written down yet."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from holdfast.hosts import claude_code
from holdfast.store.sqlite import SQLiteStore
from holdfast.surfaces.moments import prompt
from holdfast.surfaces.moments.prompt import PATIENCE
from tests.unit.actions.test_compaction import NOW, sent, session, store

__all__ = ["store"]


@pytest.mark.parametrize(("written_after", "looks"), [(1, 1), (3, 3), (100, 1 + PATIENCE)])
def test_a_prompt_waits_for_a_busy_client_to_write_down_its_compaction_but_not_for_ever(
    store: SQLiteStore, written_after: int, looks: int
) -> None:
    sent(store)
    looked = []

    def settled() -> Any:
        looked.append(1)
        return session(*[12] * (len(looked) >= written_after))

    job: Any = SimpleNamespace(
        store=store,
        host=SimpleNamespace(WRITES_BOUNDARY=True, context=claude_code.context),
        call=SimpleNamespace(prompt="", event="UserPromptSubmit", agent_id="", session="s"),
        now=NOW + 1,
        session=session,
        settled_session=settled,
    )
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(prompt, "with_mail", lambda *_: "")
        patched.setattr(prompt, "undelivered", lambda *_: 0)
        prompt.user_prompt(job)
    assert len(looked) == looks
