"""What a summary kept, what the brief put back, what differs, and what is one lookup away."""

from __future__ import annotations

from holdfast.reports.loss import build_loss_report, describe_items
from tests.unit.transcript_lines import reply, state_of, tool_use, user

TODOS = [
    {"content": "Add the retry budget to the worker", "status": "completed"},
    {"content": "Write the migration for the queue table", "status": "pending"},
]
STATE = state_of(
    user("Never push to main. Make the queue retry."),
    *tool_use("TodoWrite", {"todos": TODOS}),
    reply("The cause is a lock that is never released."),
)


def test_every_item_is_in_exactly_one_group() -> None:
    for summary, brief in (
        ("", ""),
        ("Never push to main.", "- “Never push to main.” (L1)"),
        ("Pending tasks:\n- Add the retry budget to the worker", ""),
    ):
        losses = build_loss_report(STATE, summary, brief)
        texts = [item.forms[0] for group in losses for item in group]
        assert len(texts) == len(set(texts))
        assert len(texts) >= len([item for group in build_loss_report(STATE, "", "")
                                  for item in group]) - len(losses.differs)  # fmt: skip


def test_an_item_of_which_the_summary_says_the_opposite_differs_and_is_nowhere_else() -> None:
    summary = "## Completed\n- [x] Write the migration for the queue table: done"
    losses = build_loss_report(STATE, summary, "")
    (conflict,) = losses.differs
    assert "still open in the plan: “Write the migration for the queue table”" in conflict.forms[0]
    others = [*losses.kept, *losses.restored, *losses.to_recall]
    assert not [item for item in others if "migration for the queue" in item.quote]


def test_a_conflict_with_a_note_is_taken_from_the_brief() -> None:
    line = "- noted: “never deploy on Friday” (notes.md); the summary wants it done: “deploy”"
    losses = build_loss_report(STATE, "", f"## Differs\n{line}\n")
    assert [item.forms[0] for item in losses.differs] == [line]


def test_each_item_says_what_summary_and_brief_say_of_it() -> None:
    rule = "- “Never push to main.” (L1)"
    summary = "The user said: Never push to main.\nNothing else was said."
    rows = describe_items(build_loss_report(STATE, summary, ""), summary, "")
    kept = [row for row in rows if row.group == "kept"]
    assert {row.summary_says for row in kept} == {"The user said: Never push to main."}
    rows = describe_items(build_loss_report(STATE, "", rule), "", rule)
    (restored,) = [row for row in rows if row.group == "restored"]
    assert (restored.text, restored.line, restored.summary_says) == ("Never push to main.", 1, "")
    assert restored.brief_says in rule
    assert [row.line for row in rows] == sorted(row.line for row in rows)
