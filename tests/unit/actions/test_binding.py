"""What a sub-agent is told: what binds it, and never more than its budget."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.actions.binding import MOST_TOKENS, RULED_OUT, TITLE, binding
from holdfast.brief.tokens import estimate
from holdfast.state.fold import new_state
from holdfast.state.model import State


def state_with(rules: list[tuple[str, str]], rejected: list[str]) -> State:
    state = new_state()
    state["rules"] = [
        {"text": text, "kind": kind, "line": n, "superseded": 0}  # type: ignore[typeddict-item]
        for n, (kind, text) in enumerate(rules)
    ]
    state["decisions"] = [
        {"text": text, "kind": "rejected", "by": "user", "line": n}
        for n, text in enumerate(rejected)
    ]
    return state


def test_prohibitions_come_first_and_what_was_ruled_out_last() -> None:
    rules = [("requirement", "Keep it small."), ("prohibition", "Never push.")]
    assert binding(state_with(rules, ["A global lock."])).splitlines() == [
        TITLE, "- “Never push.”", "- “Keep it small.”", RULED_OUT, "- “A global lock.”",
    ]  # fmt: skip


def test_what_the_user_took_back_is_not_said() -> None:
    state = state_with([("prohibition", "Never push.")], [])
    state["rules"][0]["superseded"] = 9
    assert binding(state) == ""


words = st.text(alphabet=st.sampled_from("aZ9 /_.-é日\n"), min_size=1, max_size=300)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["prohibition", "requirement"]), words), max_size=60),
    st.lists(words, max_size=20),
)
def test_the_budget_holds_whatever_was_said(
    rules: list[tuple[str, str]], rejected: list[str]
) -> None:
    assert estimate(binding(state_with(rules, rejected))) <= MOST_TOKENS
