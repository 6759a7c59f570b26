"""Conflicts between notes and the summary are found only where both use the same words."""

from __future__ import annotations

import pytest

from holdfast.brief.conflicts import MAX_CONFLICTS, find_conflicts
from holdfast.brief.render import build_brief
from holdfast.brief.summary_overlap import SearchableSummary
from holdfast.brief.summary_todos import parse_todos
from holdfast.state.fold import new_state
from holdfast.state.types import State

SUMMARY = """<analysis>
Pending: nothing that counts.
</analysis>
<summary>
1. Primary Request: exponential back-off. Each job has 8 attempts.

6. **Blockers:** none

7. Pending Tasks (from the list):
   - **Write the dead-letter command** - so that people can look
   - Document the retry settings: where and how
   - Deploy the worker to production
   - ✅ Rename the old queue
   - Check that the migrations were not touched

8. Current Work:
   - Measure the delay of the third attempt

9. Optional Next Step:
   Move the jobs table to Postgres. Then look again.
</summary>"""


def a_state(*plan: tuple[str, str]) -> State:
    state = new_state()
    state["plan"] = [
        {"id": str(n), "text": text, "status": status, "line": 40 + n, "source_line": n,
         "blocked_by": [], "wave": 0}
        for n, (text, status) in enumerate(plan)
    ]  # fmt: skip
    return state


def render_conflicts(
    *notes: str, plan: tuple[tuple[str, str], ...] = (), summary: str = SUMMARY
) -> list[str]:
    found = find_conflicts(a_state(*plan), notes, SearchableSummary(summary))
    return [item.forms[0] for item in found]


@pytest.mark.parametrize(
    ("note", "line"),
    [
        (
            "note: Never deploy the worker to production",
            "- noted: “Never deploy the worker to production” (notes.md); "
            "the summary wants it done: “Deploy the worker to production”",
        ),
        (
            "- Don’t deploy to production!",
            "- noted: “Don’t deploy to production!” (notes.md); "
            "the summary wants it done: “Deploy the worker to production”",
        ),
        (
            "decision: 5 attempts, not 8",
            "- decided: “5 attempts, not 8” (notes.md); the summary says "
            "“1. Primary Request: exponential back-off. Each job has 8 attempts.”",
        ),
        (
            "decision: SQLite instead of Postgres",
            "- decided: “SQLite instead of Postgres” (notes.md); "
            "the summary says “Move the jobs table to Postgres.”",
        ),
        (
            "blocker: support must say where attempts start",
            "- blocked: “support must say where attempts start” (notes.md); "
            "the summary says “Blockers: none”",
        ),
        (
            "next: tell billing",
            "- next: “tell billing” (notes.md); "
            "the summary goes on with “Move the jobs table to Postgres.”",
        ),
        (
            "The retry settings document is done.",
            "- done: “The retry settings document” (notes.md); the summary lists it as open: "
            "“Document the retry settings: where and how”",
        ),
    ],
)
def test_a_contradiction_between_a_note_and_the_summary_is_found(note: str, line: str) -> None:
    assert render_conflicts(note) == [line]


def test_a_plan_item_that_was_finished_is_listed_as_open() -> None:
    plan = (("Write the dead-letter command", "completed"), ("Deploy", "completed"))
    assert render_conflicts(plan=plan) == [
        "- done: “Write the dead-letter command” (L40); the summary lists it as open: "
        "“Write the dead-letter command - so that people can look”"
    ]


def test_similar_wording_alone_is_no_conflict() -> None:
    cases = [
        "note: Never deploy on Fridays",
        "note: Never touch the migrations",
        "decision: 8 attempts, not 5",
        "decision: 5 workers, not 8",
        "decision: Postgres instead of SQLite",
        "note: the third attempt, not the second",
        "next: deploy the new worker",
        "next: document the settings",
        "note: The queue is renamed and done",
        "note: the settings are done",
        "blocked, says the summary",
        "",
    ]
    for note in cases:
        assert render_conflicts(note) == [], note


@pytest.mark.parametrize(
    "plan",
    [
        (("Rename the old queue", "completed"),),
        (("Measure the delay of the third attempt", "completed"),),
        (("Write the dead-letter command and its tests for three cases", "completed"),),
        (("Write the dead-letter command", "in_progress"),),
        # Done once, and planned again under the same name.
        (
            ("Write the dead-letter command", "completed"),
            ("Write the dead-letter command", "pending"),
        ),
    ],
)
def test_a_plan_that_the_summary_states_correctly_is_no_conflict(
    plan: tuple[tuple[str, str], ...],
) -> None:
    assert render_conflicts(plan=plan) == []


def test_what_the_user_said_in_the_session_counts_as_much_as_a_note() -> None:
    state = a_state()
    state["rules"] = [
        {"text": "Correction: make it 5 attempts, not 8.", "kind": "requirement", "line": 77,
         "superseded": 0, "scope": "", "weak": False},
    ]  # fmt: skip
    (item,) = find_conflicts(state, (), SearchableSummary(SUMMARY))
    assert "5 attempts, not 8.” (L77); the summary says" in item.forms[0]
    state["rules"][0]["superseded"] = 90
    assert [*find_conflicts(state, (), SearchableSummary(SUMMARY))] == []


def test_only_the_last_note_about_blockers_counts() -> None:
    assert render_conflicts("blocker: the answer", "unblocked: it came") == []
    assert render_conflicts("unblocked: it came", "blocker: the other answer") != []


def test_conflicts_are_limited_and_listed_once() -> None:
    same = ["note: Never deploy to production"] * 3
    assert len(render_conflicts(*same)) == 1
    many = [f"note: Never deploy the worker to production, {n} times" for n in range(9)]
    summary = SUMMARY.replace("to production", "to production, 0 1 2 3 4 5 6 7 8 times")
    assert len(render_conflicts(*many, summary=summary)) == MAX_CONFLICTS


def test_what_a_summary_lists_as_open() -> None:
    cases = [
        (
            "## Pending Tasks\n1. Fix it\n2. Test it\n## Current Work\n- Nothing",
            ["Fix it", "Test it"],
        ),
        ("7. **Pending Tasks:**\n   - None explicitly pending.", []),
        ("Next step: write the page", ["write the page"]),
        ("- **Pending**: document it", ["document it"]),
        ("9. Optional Next Step:\n   Look at it. Then go on.", ["Look at it.", "Then go on."]),
        ("## Next Steps\n```\nrm -rf build\n```\n- Build it", ["Build it"]),
        ("The next steps were discussed:\n- Build it", []),
        ("", []),
    ]
    for summary, found in cases:
        assert [end.text for end in parse_todos(summary)] == found, summary


def test_conflicts_come_first_in_the_brief() -> None:
    state = a_state(("Write the dead-letter command", "completed"))
    state["requests"] = [{"text": "Make the jobs back off.", "line": 1, "at": ""}]
    brief = build_brief(
        state, tokens=1000, characters=9000, summary=SUMMARY, notes=["decision: 5 attempts, not 8"]
    )
    heading = "## Where the log says otherwise than the summary\n- decided: “5 attempts"
    assert heading in brief.text
    assert brief.text.index(heading) < brief.text.index("## Notes by people")
    alone = build_brief(state, tokens=1000, characters=9000, notes=["decision: 5 attempts, not 8"])
    assert "says otherwise" not in alone.text


@pytest.mark.parametrize(
    "entry", ["- ✅ Write the retry command", "  - **Write the retry command**: completed, tested"]
)
def test_an_open_plan_item_that_the_summary_calls_done_is_a_conflict(entry: str) -> None:
    plan = ("Write the retry command", "pending")
    (line,) = render_conflicts(plan=(plan,), summary=f"2. Completed:\n{entry}\n")
    assert line.startswith("- still open in the plan: “Write the retry command” (L40); the summary")
    state = a_state(plan)
    text = build_brief(
        state, tokens=1000, characters=9500, summary=f"2. Completed:\n{entry}\n"
    ).text
    assert "- pending: Write the retry command" in text


@pytest.mark.parametrize("entry", [
    "- Write the retry command: not completed yet", "- Write the retry command",
    "- Write the retry command once the migration is done", "- ✅ Read the retry command",
])  # fmt: skip
def test_a_plan_item_that_the_summary_also_lists_as_open_is_no_conflict(entry: str) -> None:
    assert (
        render_conflicts(
            plan=(("Write the retry command", "pending"),), summary=f"2. Tasks:\n{entry}"
        )
        == []
    )


def test_a_branch_is_covered_by_its_name_and_not_by_a_part_of_a_word() -> None:
    state = new_state()
    state["branch"] = "main"
    for summary, is_told in (("The remaining domain", True), ("We work on branch main.", False)):
        text = build_brief(state, tokens=1000, characters=9500, summary=summary).text
        assert ("- branch main" in text) == is_told
