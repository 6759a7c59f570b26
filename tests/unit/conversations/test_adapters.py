"""Adapters add each event of a log once."""

from __future__ import annotations

from typing import Any

from holdfast.conversations.adapters.condenser import HoldfastCondenser

from .conftest import Make


def test_a_log_read_again_by_another_process_is_not_added_twice(manager: Make) -> None:
    log: list[Any] = [{"role": "user", "content": "go"}, None]
    options: dict[str, Any] = {"as_message": lambda event: event}
    first = HoldfastCondenser(manager().get_or_create("s1"), **options)
    assert [one["content"] for one in first.condense(log)] == ["go"]
    log += [{"role": "assistant", "content": "done"}, None, {"role": "user", "content": "more"}]
    again = manager().get_or_create("s1")
    view = HoldfastCondenser(again, **options).condense(log)
    assert [one["content"] for one in view] == ["go", "done", "more"]
    assert first.condense(log) == view
    assert again.metrics().messages == 3
