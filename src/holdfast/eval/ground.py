"""What is true at a cut, read from the raw lines alone: everything a text is held to."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.eval.artifacts import Trail
from holdfast.eval.cuts import Cut
from holdfast.eval.failures import Run, last_unresolved, runs
from holdfast.eval.instructions import Instruction, instructions
from holdfast.eval.references import References
from holdfast.eval.session import Session
from holdfast.eval.todos import Todos, todos


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    session: Session
    cut: Cut
    references: References
    trail: Trail
    instructions: list[Instruction]
    todos: Todos
    runs: list[Run]
    error: Run | None
    branch: str


def ground(session: Session, cut: Cut, references: References, trail: Trail) -> Ground:
    before = list(session.before(cut.line))
    found = runs(before)
    return Ground(
        session=session,
        cut=cut,
        references=references,
        trail=trail,
        instructions=instructions(before),
        todos=todos(before),
        runs=found,
        error=last_unresolved(found),
        branch=session.branch_at(cut.line),
    )
