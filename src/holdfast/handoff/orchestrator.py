"""The state that an orchestrator keeps of its sub-agents; its size is bounded for any number."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from holdfast.handoff.shorten import MAX_TOKENS, shorten
from holdfast.handoff.types import Handoff
from holdfast.tokens.estimate import estimate_tokens

MAX_PHASES = 8
MAX_FILES = 60
MAX_ISSUES = 20
MAX_REFS = 20
MAX_ISSUE_CHARS = 300
# The limit for the summary of all phases before the last MAX_PHASES.
MAX_PAST_TOKENS = MAX_TOKENS


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    id: str
    feature: str = ""
    spec_path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """One phase: what its sub-agents returned, as one summary within the token limit."""

    name: str
    summary: str = ""
    decision: str = "pending"
    agents: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class OrchestratorState:
    """What is left of the responses after `absorb`; `refs` say where raw outputs can be found."""

    task: Task
    current: Phase = field(default_factory=lambda: Phase(name=""))
    completed: tuple[Phase, ...] = ()
    past: str = ""
    """One summary of the phases before `completed`."""
    phases_past: int = 0
    files_changed: tuple[str, ...] = ()
    files_left_out: int = 0
    issues: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()
    absorbed: int = 0
    tokens_seen: int = 0

    def absorb(self, response: Handoff | str, *, ref: str = "") -> OrchestratorState:
        """Return the state with a sub-agent's response added.

        A response of another phase closes the current phase. `ref` says where the raw output is.
        """
        handoff = Handoff.parse(response) if isinstance(response, str) else response
        state = self.enter(handoff.phase) if handoff.phase else self
        phase = state.current
        summary = f"{phase.summary}\n{handoff.context_summary}".strip()
        new = tuple(path for path in handoff.files_changed if path not in state.files_changed)
        files = (*state.files_changed, *new)
        return replace(
            state,
            current=replace(
                phase,
                summary=shorten(summary),
                decision=handoff.decision or phase.decision,
                agents=phase.agents + 1,
            ),
            files_changed=files[-MAX_FILES:],
            files_left_out=state.files_left_out + max(0, len(files) - MAX_FILES),
            issues=tuple(_shorten_issues((*state.issues, *handoff.issues)))[-MAX_ISSUES:],
            refs=(*state.refs, *([ref] if ref else []))[-MAX_REFS:],
            absorbed=state.absorbed + 1,
            tokens_seen=state.tokens_seen + (handoff.raw_tokens or handoff.tokens),
        )

    def enter(self, phase: str) -> OrchestratorState:
        """Close the current phase, shorten its summary to half the limit, and begin another."""
        if phase == self.current.name:
            return self
        if not self.current.name and not self.current.agents:
            return replace(self, current=Phase(name=phase))
        closed = replace(self.current, summary=shorten(self.current.summary, MAX_TOKENS // 2))
        completed, past = (*self.completed, closed), self.past
        if len(completed) > MAX_PHASES:
            oldest = completed[0]
            completed = completed[1:]
            past = shorten(f"{past}\n{oldest.name}: {oldest.summary}".strip(), MAX_PAST_TOKENS)
        phases_past = self.phases_past + (len(self.completed) + 1 - len(completed))
        return replace(
            self, current=Phase(name=phase), completed=completed, past=past, phases_past=phases_past
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the state in the shape that orchestrators save."""
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
        """Estimated tokens of the state in the orchestrator's own context."""
        import json

        return estimate_tokens(json.dumps(self.as_dict(), ensure_ascii=False))

    @property
    def tokens_discarded(self) -> int:
        """How many tokens more the raw outputs would have taken."""
        return max(0, self.tokens_seen - self.tokens_retained)


def _shorten_issues(issues: tuple[str, ...]) -> list[str]:
    """Return each issue once, in at most MAX_ISSUE_CHARS."""
    shortened = (
        issue if len(issue) <= MAX_ISSUE_CHARS else issue[: MAX_ISSUE_CHARS - 1] + "…"
        for issue in issues
    )  # fmt: skip
    return list(dict.fromkeys(shortened))
