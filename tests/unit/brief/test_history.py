"""Earlier eras are described more briefly with age, and never disappear."""

from __future__ import annotations

import pytest

from holdfast.brief.history import MAX_SEPARATE_ERAS, era_end_lines, era_items, is_in_earlier_era
from holdfast.brief.render import build_brief
from holdfast.state.fold import new_state
from holdfast.state.types import State


def chain(compactions: int, *, running: bool = False) -> State:
    """A session with eras of ten lines: two requests and a commit in each."""
    state = new_state()
    for number in range(compactions + 1):
        start = 10 * number
        for offset in (1, 4):
            state["requests"].append(
                {"text": f"Do thing {number}.{offset} " + "at length " * 40, "line": start + offset}  # type: ignore[typeddict-item]
            )
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
    assert [*era_items(chain(0))] == []
    assert not is_in_earlier_era(chain(0), 1)


def test_each_era_is_described_once_and_older_ones_are_shorter() -> None:
    told = [line for item in era_items(chain(3)) for line in item.forms[0].splitlines()]
    assert [line.split(":")[0] for line in told] == [
        "- before compaction 1", "- before compaction 2", "- before compaction 3",
    ]  # fmt: skip
    per_request = [len(line) / line.count("“") for line in told]
    assert per_request == sorted(per_request)
    assert "commit 00000001 Thing 1 (L18)" in told[1]


def test_a_compaction_in_progress_does_not_end_an_era() -> None:
    state = chain(2, running=True)
    assert era_end_lines(state) == [10]
    assert not is_in_earlier_era(state, 14)


@pytest.mark.parametrize("compactions", [1, MAX_SEPARATE_ERAS, MAX_SEPARATE_ERAS + 1, 40])
def test_no_era_disappears_after_many_compactions(compactions: int) -> None:
    state = chain(compactions)
    told = "\n".join(item.forms[0] for item in era_items(state))
    assert len(told.splitlines()) <= MAX_SEPARATE_ERAS + 1
    for request in state["requests"][1:-1]:
        if is_in_earlier_era(state, request["line"]):
            assert f"(L{request['line']})" in told
    (least,) = (item.forms[-1] for item in era_items(state))
    asked, made = 2 * compactions, compactions
    assert least == f"- {asked} asked, {made} committed before L{10 * made} (L{10 * made})"


def test_an_era_without_a_request_is_described_too() -> None:
    state = chain(2)
    state["requests"] = [one for one in state["requests"] if not 10 < one["line"] <= 20]
    state["commits"] = []
    (item,) = era_items(state)
    assert "- before compaction 2: nothing asked, nothing committed (L20)" in item.forms[0]


@pytest.mark.parametrize("tokens", [300, 500, 700, 1000, 1200, 1300, 2000])
def test_earlier_eras_are_in_a_brief_of_any_size(tokens: int) -> None:
    state = chain(6)
    for number in range(300):
        path = f"src/part_{number}/module_{number}.py"
        state["files"][path] = {"edits": 1, "line": 61 + number}  # type: ignore[typeddict-item]
    text = build_brief(state, tokens=tokens, characters=9500).text
    if tokens <= 600:
        assert "After compaction 7 (6 at L60), from the log" in text
    elif tokens <= 1200:
        assert "After compaction 7 (12 asked, 6 committed before L60), from the log" in text
    else:
        assert "## Earlier\n" in text


def test_requests_of_earlier_eras_are_not_repeated() -> None:
    text = build_brief(chain(2), tokens=3000, characters=9500).text
    assert text.count("Do thing 1.1") == 1
    assert text.index("## Earlier") < text.index("Do thing 1.1")
    assert text.index("Do thing 0.1") < text.index("## Earlier")
