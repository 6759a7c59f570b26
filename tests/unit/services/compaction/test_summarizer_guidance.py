"""The guidance for the summarizer: rules word for word, what to state, nothing to leave out."""

from __future__ import annotations

from holdfast.services.compaction.summarizer_guidance import MAX_GUIDANCE_UNITS, render_guidance
from holdfast.state.fold import new_state
from holdfast.tokens.estimate import utf16_units
from tests.unit.transcript_lines import reply, state_of, user


def test_standing_rules_are_quoted_and_one_off_requests_are_not() -> None:
    state = state_of(user("Never push to main. We need to rebase now."), reply("ok"))
    text = render_guidance(state)
    assert "- “Never push to main.”" in text
    assert "rebase" not in text


def test_a_superseded_rule_is_not_quoted() -> None:
    later = "From now on always push to the remote branch."
    state = state_of(user("Never push to the remote branch."), user(later))
    text = render_guidance(state)
    assert later in text
    assert "Never push" not in text


def test_it_asks_for_verdicts_negative_results_and_open_questions() -> None:
    text = render_guidance(state_of(user("fix the retry logic of the worker")))
    for words in ("verdicts instead of hopes", "negative results", "operating facts",
                  "open questions"):  # fmt: skip
        assert words in text


def test_nothing_is_to_be_left_out() -> None:
    text = render_guidance(state_of(user("Never push to main."))).lower()
    for words in ("leave out", "no room", "do not spend", "restored"):
        assert words not in text


def test_an_empty_session_gets_no_guidance() -> None:
    assert render_guidance(new_state()) == ""


def test_many_rules_stay_within_the_limit() -> None:
    lines = [
        user(f"Never touch the file number {n} " + "of the old system " * 15) for n in range(150)
    ]
    assert utf16_units(render_guidance(state_of(*lines))) <= MAX_GUIDANCE_UNITS
