"""What an orchestrator keeps of its sub-agents: little, and never more, however many there are."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from holdfast.brief.tokens import estimate
from holdfast.handoff.compact import MOST_TOKENS, compact
from holdfast.handoff.model import Handoff

MOST_PHASES = 8
MOST_FILES = 60
MOST_ISSUES = 20
MOST_REFS = 20
LONGEST = 300
# Of what earlier phases found, so much is carried on.
FOR_THE_PAST = MOST_TOKENS


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    id: str
    feature: str = ""
    spec_path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """One phase: what its sub-agents brought back, as one summary within the limit."""

    name: str
    summary: str = ""
    decision: str = "pending"
    agents: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class OrchestratorState:
    """Absorb a response and forget its raw output; `refs` say where that can be looked up."""

    task: Task
    current: Phase = field(default_factory=lambda: Phase(name=""))
    completed: tuple[Phase, ...] = ()
    past: str = ""
    """What phases before those found, in one summary."""
    phases_past: int = 0
    files_changed: tuple[str, ...] = ()
    files_left_out: int = 0
    issues: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()
    absorbed: int = 0
    tokens_seen: int = 0

    def absorb(self, response: Handoff | str, *, ref: str = "") -> OrchestratorState:
        """The state after a sub-agent came back; a new phase closes the one before."""
        given = Handoff.parse(response) if isinstance(response, str) else response
        state = self.enter(given.phase) if given.phase else self
        phase = state.current
        summary = f"{phase.summary}\n{given.context_summary}".strip()
        new = tuple(path for path in given.files_changed if path not in state.files_changed)
        files = (*state.files_changed, *new)
        return replace(
            state,
            current=replace(
                phase,
                summary=compact(summary),
                decision=given.decision or phase.decision,
                agents=phase.agents + 1,
            ),
            files_changed=files[-MOST_FILES:],
            files_left_out=state.files_left_out + max(0, len(files) - MOST_FILES),
            issues=tuple(_short((*state.issues, *given.issues)))[-MOST_ISSUES:],
            refs=(*state.refs, *([ref] if ref else []))[-MOST_REFS:],
            absorbed=state.absorbed + 1,
            tokens_seen=state.tokens_seen + (given.raw_tokens or given.tokens),
        )

    def enter(self, phase: str) -> OrchestratorState:
        """Close the current phase and begin another; its summary is compacted at the boundary."""
        if phase == self.current.name:
            return self
        if not self.current.name and not self.current.agents:
            return replace(self, current=Phase(name=phase))
        closed = replace(self.current, summary=compact(self.current.summary, MOST_TOKENS // 2))
        completed, past = (*self.completed, closed), self.past
        if len(completed) > MOST_PHASES:
            oldest = completed[0]
            completed = completed[1:]
            past = compact(f"{past}\n{oldest.name}: {oldest.summary}".strip(), FOR_THE_PAST)
        gone = self.phases_past + (len(self.completed) + 1 - len(completed))
        return replace(
            self, current=Phase(name=phase), completed=completed, past=past, phases_past=gone
        )

    def as_dict(self) -> dict[str, Any]:
        """What to keep, in the shape that orchestrators write down."""
        phases = (*self.completed, self.current)
        return {
            "task": asdict(self.task),
            "progress": {
                "current_phase": self.current.name,
                "completed_phases": [phase.name for phase in self.completed],
                "summaries": {phase.name: phase.summary for phase in phases if phase.summary},
                "earlier": self.past,
                "files_changed": list(self.files_changed),
                "files_left_out": self.files_left_out,
                "issues": list(self.issues),
            },
            "decisions": {phase.name: phase.decision for phase in phases if phase.name},
            "refs": list(self.refs),
        }

    @property
    def tokens_retained(self) -> int:
        """What the state takes in the orchestrator's own window."""
        import json

        return estimate(json.dumps(self.as_dict(), ensure_ascii=False))

    @property
    def tokens_discarded(self) -> int:
        """What the raw outputs would have taken beyond that."""
        return max(0, self.tokens_seen - self.tokens_retained)


def _short(issues: tuple[str, ...]) -> list[str]:
    kept = dict.fromkeys(one if len(one) <= LONGEST else one[: LONGEST - 1] + "…" for one in issues)
    return list(kept)
