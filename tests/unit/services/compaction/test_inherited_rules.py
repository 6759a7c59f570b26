"""The rules that a sub-agent inherits, within a token budget."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.services.compaction.inherited_rules import (
    MAX_INHERITED_TOKENS,
    RULED_OUT_TITLE,
    SUBAGENT_TITLE,
    render_inherited_rules,
)
from holdfast.state.fold import new_state
from holdfast.state.types import State
from holdfast.tokens.estimate import estimate_tokens


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


def test_prohibitions_come_first_and_rejected_approaches_last() -> None:
    rules = [("requirement", "Keep it small."), ("prohibition", "Never push.")]
    assert render_inherited_rules(state_with(rules, ["A global lock."])).splitlines() == [
        SUBAGENT_TITLE, "- “Never push.”", "- “Keep it small.”", RULED_OUT_TITLE,
        "- “A global lock.”",
    ]  # fmt: skip


def test_superseded_rules_are_not_inherited() -> None:
    state = state_with([("prohibition", "Never push.")], [])
    state["rules"][0]["superseded"] = 9
    assert render_inherited_rules(state) == ""


texts = st.text(alphabet=st.sampled_from("aZ9 /_.-é日\n"), min_size=1, max_size=300)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["prohibition", "requirement"]), texts), max_size=60),
    st.lists(texts, max_size=20),
)
def test_any_rules_stay_within_the_budget(
    rules: list[tuple[str, str]], rejected: list[str]
) -> None:
    assert (
        estimate_tokens(render_inherited_rules(state_with(rules, rejected))) <= MAX_INHERITED_TOKENS
    )
