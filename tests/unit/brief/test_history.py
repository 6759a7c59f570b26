"""Earlier stretches of a session: what was done before each earlier compaction."""

from __future__ import annotations

import pytest

from holdfast.brief.history import (
    MAX_SEPARATE_STRETCHES,
    is_in_earlier_stretch,
    stretch_ends,
    stretch_items,
)
from holdfast.brief.render import build_brief
from holdfast.state.fold import new_state
from holdfast.state.types import State


def make_session(compactions: int, *, running: bool = False) -> State:
    """A session with stretches of ten lines: two requests, a report, an edit and a commit each."""
    state = new_state()
    for number in range(compactions + 1):
        start = 10 * number
        for offset in (1, 4):
            state["requests"].append(
                {"text": f"Do thing {number}.{offset} " + "at length " * 40, "line": start + offset}  # type: ignore[typeddict-item]
            )
        state["reports"].append(
            {"text": f"Thing {number} was a race in the queue.", "line": start + 3}
        )
        state["files"][f"src/part_{number}.py"] = {"edits": 1, "line": start + 5}
        state["commits"].append(
            {"sha": f"{number:08x}", "subject": f"Thing {number}", "line": start + 8}
        )
        if number < compactions:
            state["compactions"].append(
                {"id": str(number), "line": start + 10, "trigger": "auto", "before": 0, "after": 0,
                 "summary_line": start + 10, "reply_line": start + 11, "deliveries": []}
            )  # fmt: skip
    if running:
        state["compactions"][-1]["reply_line"] = 0
    return state


def test_without_a_compaction_nothing_is_earlier() -> None:
    assert [*stretch_items(make_session(0))] == []
    assert not is_in_earlier_stretch(make_session(0), 1)


def test_a_stretch_says_what_was_reported_committed_and_changed() -> None:
    latest, first = stretch_items(make_session(2))
    assert latest.forms[0].startswith(
        "- before compaction 2: reported “Thing 1 was a race in the queue.” (L13)"
    )
    assert "commit 00000001 Thing 1 (L18)" in latest.forms[0]
    assert "changed part_1.py (L15)" in latest.forms[0]
    assert first.forms[0].startswith("- before compaction 1: reported “Thing 0 was")
    assert latest.is_required
    assert not first.is_required


def test_shorter_forms_are_shorter() -> None:
    for item in stretch_items(make_session(3)):
        lengths = [len(form) for form in item.forms]
        assert lengths == sorted(lengths, reverse=True)


def test_a_compaction_in_progress_does_not_end_a_stretch() -> None:
    state = make_session(2, running=True)
    assert stretch_ends(state) == [10]
    assert not is_in_earlier_stretch(state, 14)


@pytest.mark.parametrize("compactions", [1, MAX_SEPARATE_STRETCHES, 40])
def test_after_many_compactions_the_oldest_stretches_share_an_item(compactions: int) -> None:
    state = make_session(compactions)
    items = list(stretch_items(state))
    assert len(items) == min(compactions, MAX_SEPARATE_STRETCHES)
    older = compactions - MAX_SEPARATE_STRETCHES
    assert items[-1].forms[0].startswith(f"- before compaction {max(0, older) + 1}: ")
    assert "commit 00000000" in items[-1].forms[0] or "more commits" in items[-1].forms[0]


def test_a_stretch_without_requests_is_described_too() -> None:
    state = make_session(2)
    state["requests"] = [one for one in state["requests"] if not 10 < one["line"] <= 20]
    state["commits"], state["reports"], state["files"] = [], [], {}
    latest, _ = stretch_items(state)
    assert latest.forms[0] == "- before compaction 2: nothing reported or committed (L20)"


@pytest.mark.parametrize("tokens", [500, 1000, 2000])
def test_the_latest_earlier_stretch_is_in_a_brief_of_any_usual_size(tokens: int) -> None:
    state = make_session(6)
    for number in range(300):
        path = f"src/part_{number}/module_{number}.py"
        state["files"][path] = {"edits": 1, "line": 61 + number}
    text = build_brief(state, tokens=tokens, characters=9500).text
    assert "- before compaction 6: " in text


def test_messages_of_earlier_stretches_stay_among_the_users_words() -> None:
    text = build_brief(make_session(2), tokens=3000, characters=9500).text
    assert "Do thing 1.4" in text.partition("## Earlier")[0]
