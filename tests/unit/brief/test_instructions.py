"""Items of the user's rules, and of the current work."""

from __future__ import annotations

from holdfast.brief import activity, checks, instructions
from holdfast.brief.items import Item
from holdfast.state.types import State
from tests.unit.transcript_lines import bash, call, reply, state_of, user


def test_a_document_passed_to_a_command_makes_no_rules() -> None:
    document = "# Guide\n\n**Never log tokens.**\nAlways use tabs."
    line = user(f"<command-name>/todo</command-name><command-args>{document}</command-args>")
    assert list(instructions.rule_items(state_of(line))) == []
    typed = user("Remember this: **Never log tokens or names.**")
    assert [item.quote for item in instructions.rule_items(state_of(typed))] == [
        "Remember this: **Never log tokens or names."
    ]


def now(state: State, kind: str) -> Item:
    return next(item for item in activity.current_work_items(state, None) if item.kind == kind)


def test_a_message_before_the_latest_request_is_labelled_as_such() -> None:
    lines = [user("write the tests"), reply("All of them are written.")]
    assert now(state_of(*lines), "doing").forms[0] == (
        "- last said: “All of them are written.” (L2)"
    )
    assert now(state_of(*lines, user("and the docs")), "doing").forms[0] == (
        "- said before the latest request: “All of them are written.” (L2)"
    )


def test_a_sub_agent_running_for_the_latest_request_is_required() -> None:
    start = call("Agent", {"subagent_type": "Explore", "description": "find callers"}, "a1")
    (agent,) = activity.subagent_items(state_of(user("find out"), start), None)
    assert agent.is_required
    (agent,) = activity.subagent_items(state_of(user("find out"), start, user("go on")), None)
    assert not agent.is_required


def test_a_failure_says_that_another_test_run_passed_since() -> None:
    failed, passed = bash("make test-all", "FAILED a", ok=False), bash("make test-fast", "ok")
    (item,) = checks.failing_check_items(state_of(*failed, *passed))
    assert item.forms[-1].splitlines()[0] == (
        "- `make test-all` fails (L1 L2); since then `make test-fast` passed (L3 L4)"
    )
    (item,) = checks.failing_check_items(state_of(*passed, *failed))
    assert "since then" not in item.forms[-1]
