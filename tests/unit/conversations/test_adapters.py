"""The condenser adds each event of a log to the conversation once."""

from __future__ import annotations

from typing import Any

from holdfast.conversations.adapters.condenser import HoldfastCondenser

from .conftest import Make


def test_a_log_read_by_two_condensers_is_added_once(manager: Make) -> None:
    log: list[Any] = [{"role": "user", "content": "go"}, None]
    options: dict[str, Any] = {"as_message": lambda event: event}
    first = HoldfastCondenser(manager().get_or_create("s1"), **options)
    assert [message["content"] for message in first.condense(log)] == ["go"]
    log += [{"role": "assistant", "content": "done"}, None, {"role": "user", "content": "more"}]
    reopened = manager().get_or_create("s1")
    view = HoldfastCondenser(reopened, **options).condense(log)
    assert [message["content"] for message in view] == ["go", "done", "more"]
    assert first.condense(log) == view
    assert reopened.metrics().messages == 3
