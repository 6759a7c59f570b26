"""Items of the plan."""

from __future__ import annotations

from holdfast.brief.plan import OUTDATED_AFTER, plan_items
from holdfast.brief.summary_overlap import SearchableSummary
from tests.unit.transcript_lines import Line, state_of, tool_use, user


def create(number: str, subject: str, description: str) -> list[Line]:
    arguments = {"subject": subject, "description": description}
    return tool_use("TaskCreate", arguments, detail={"task": {"id": number, "subject": subject}})


DETAIL = "The hook must take the session id from stdin instead of guessing the latest session."


def test_an_open_item_is_shown_with_its_description() -> None:
    (item,) = plan_items(state_of(*create("1", "Fix the log routing", DETAIL)), None)
    assert item.forms[0] == f"- pending: Fix the log routing: “{DETAIL}” (L2)"
    assert item.forms[-1] == "- pending: Fix the log routing (L2)"


def test_a_description_that_the_summary_has_is_not_repeated() -> None:
    summary = SearchableSummary(f"1. Fix the log routing. {DETAIL}")
    (item,) = plan_items(state_of(*create("1", "Fix the log routing", DETAIL)), summary)
    assert item.forms == ("- pending: Fix the log routing (L2)",)
    assert summary.covers(item)


def test_a_plan_that_was_not_changed_for_several_messages_is_marked() -> None:
    lines = create("1", "Fix the log routing", DETAIL)
    lines += [user(f"now do thing number {n}") for n in range(OUTDATED_AFTER)]
    (item,) = plan_items(state_of(*lines), None)
    assert item.forms[-1].startswith("- pending when the plan was last changed (L2): Fix the log")
    assert not item.is_required


def test_finished_items_are_shown_with_their_titles_unless_there_is_a_summary() -> None:
    todos = [{"content": f"Step {n} of the plan", "status": "completed"} for n in range(10)]
    state = state_of(*tool_use("TodoWrite", {"todos": todos}))
    (done,) = plan_items(state, None)
    assert "Step 9 of the plan" in done.forms[0]
    assert done.forms[0].startswith("- done (10): Step 2 of the plan; ")
    assert list(plan_items(state, SearchableSummary("Nothing."))) == []


def test_outdated_items_without_a_description_are_left_to_the_summary() -> None:
    after = [user(f"now do thing number {n}") for n in range(OUTDATED_AFTER)]
    summary = SearchableSummary("The parser was worked on.")
    todo = tool_use("TodoWrite", {"todos": [{"content": "Add the panel", "status": "pending"}]})
    assert [*plan_items(state_of(*todo, *after), summary)] == []
    (described,) = plan_items(state_of(*create("1", "Fix the routing", DETAIL), *after), summary)
    assert DETAIL in described.forms[0]
