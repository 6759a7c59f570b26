"""The typed handoff: what a sub-agent is asked, and what it may bring back."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from holdfast.brief.tokens import estimate
from holdfast.handoff.compact import MOST_TOKENS, compact
from holdfast.handoff.reading import read
from holdfast.redact import redact, redact_value

RULES = f"""\
## Handoff
End with a handoff for the one who goes on with the work, and nothing after it: one JSON object
with `status` (complete, partial, failed, blocked), `decision` (PROCEED, STOP, CLARIFY),
`context_summary`, `files_changed` and `issues`. `context_summary` has at most {MOST_TOKENS} tokens:

- Include: findings that matter next, decisions, paths of files that need attention, names of
  patterns to follow, constraints, next steps.
- Leave out: search queries and grep patterns, steps of thinking, contents of files, errors already
  resolved, approaches not chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoffRequest:
    """What a sub-agent is given."""

    task_id: str
    phase: str
    context: str = ""
    constraints: tuple[str, ...] = ()
    previous_findings: str = ""
    expected_output: str = ""

    def prompt(self) -> str:
        """As the sub-agent reads it; what came from others is within the same 500 tokens."""
        parts = [f"# Task {self.task_id}: {self.phase}", self.context]
        if self.constraints:
            parts.append("Constraints:\n" + "\n".join(f"- {one}" for one in self.constraints))
        if self.previous_findings:
            parts.append(f"Found before:\n{compact(self.previous_findings)}")
        if self.expected_output:
            parts.append(f"Expected: {self.expected_output}")
        return "\n\n".join([*(part for part in parts if part), RULES])


@dataclass(frozen=True, slots=True, kw_only=True)
class Handoff:
    """What a sub-agent brought back; its summary is within the limit whatever it said."""

    task_id: str = ""
    phase: str = ""
    status: str = ""
    decision: str = ""
    findings: Any = None
    files_changed: tuple[str, ...] = ()
    context_summary: str = ""
    tokens_used: int = 0
    issues: tuple[str, ...] = ()
    problems: tuple[str, ...] = field(default=(), compare=False)
    """What was wrong with the response; it was mended as far as possible."""
    raw_tokens: int = field(default=0, compare=False)

    @classmethod
    def parse(cls, raw: str, *, tokens: int = MOST_TOKENS) -> Handoff:
        """Never raises: what is missing is empty, what is too long is compacted, both are told."""
        clean = redact(raw)
        found, problems = read(clean)
        summary = compact(found.pop("context_summary"), tokens)
        files, issues = tuple(found.pop("files_changed")), tuple(found.pop("issues"))
        return cls(
            context_summary=summary,
            files_changed=files,
            issues=issues,
            findings=redact_value(found.pop("findings")),
            problems=tuple(problems),
            raw_tokens=estimate(clean),
            **found,
        )

    @property
    def tokens(self) -> int:
        """What it takes to hand it on: everything but the findings."""
        told = [self.context_summary, *self.files_changed, *self.issues]
        return estimate("\n".join(told))

    def as_dict(self) -> dict[str, Any]:
        """Everything, as JSON can hold it."""
        return {**asdict(self), "tokens": self.tokens}
