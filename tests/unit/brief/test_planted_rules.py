"""A constraint for the whole session is in the brief verbatim, wherever the user stated it."""

from __future__ import annotations

import pytest

from holdfast.brief.render import build_brief
from tests.unit.transcript_lines import Line, bash, reply, state_of, tool_use, user

CONSTRAINTS = [
    "Always write commit messages in the imperative mood.",
    "Never modify files under vendor/.",
    "Use only the standard library in new modules.",
    "Before you run a migration, make a backup of the database.",
    "When you finish a step, end your reply with the word DONE.",
    "Write every public docstring in British English.",
    "End every reply with the number of open tasks.",
    "Every new function must have a type annotation.",
    "Do not print secrets, not even in debug logs.",
    "Prefix all branch names with feature/.",
    "From now on answer in French.",
    "Make sure that nothing is written outside the project folder.",
    "Keep the public API of the client unchanged.",
    "After every change run `make lint`.",
    "Please don't open pull requests yourself.",
]
TURNS = 24


def make_session(constraint: str, turn: int) -> list[Line]:
    """A session of many turns in which the user states the constraint in one of them."""
    lines: list[Line] = []
    for number in range(TURNS):
        text = f"Now move part number {number} of the importer to the new queue."
        lines.append(user(f"{text} {constraint} Then go on." if number == turn else text))
        lines.append(reply(f"Part {number} is next, because its table is the smallest one left."))
        edit = {"file_path": f"/srv/app/part_{number}.py", "old_string": "x", "new_string": "y"}
        lines += tool_use("Edit", edit)
        lines += bash("make test", f"{30 + number} passed")
        lines.append(reply(f"Part {number} is moved; {30 + number} tests pass. " + "More. " * 40))
    return lines


@pytest.mark.parametrize("turn", [0, TURNS // 2, TURNS - 1], ids=["first", "middle", "last"])
def test_a_constraint_is_in_the_brief_wherever_it_was_stated(turn: int) -> None:
    for constraint in CONSTRAINTS:
        state = state_of(*make_session(constraint, turn))
        for tokens in (1000, 3000):
            text = build_brief(state, tokens=tokens, characters=10_000, summary="Moved parts.").text
            assert constraint in text, (constraint, tokens)
