"""The ground truth at a cut, read from the raw lines alone."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.eval.cuts import Cut
from holdfast.eval.failures import CheckRun, find_check_runs, find_last_unresolved
from holdfast.eval.instructions import Instruction, find_instructions
from holdfast.eval.references import References
from holdfast.eval.session import Session
from holdfast.eval.todos import Todos, read_todos


@dataclass(frozen=True, slots=True, kw_only=True)
class GroundTruth:
    session: Session
    cut: Cut
    references: References
    instructions: list[Instruction]
    todos: Todos
    runs: list[CheckRun]
    error: CheckRun | None
    branch: str


def read_ground_truth(session: Session, cut: Cut, references: References) -> GroundTruth:
    before = list(session.before(cut.line))
    runs = find_check_runs(before)
    return GroundTruth(
        session=session,
        cut=cut,
        references=references,
        instructions=find_instructions(before),
        todos=read_todos(before),
        runs=runs,
        error=find_last_unresolved(runs),
        branch=session.branch_at(cut.line),
    )
