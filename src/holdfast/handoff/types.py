"""The typed handoff: what a sub-agent is given, and what it returns."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from holdfast.handoff.parser import parse_response
from holdfast.handoff.shorten import MAX_TOKENS, shorten
from holdfast.redaction import redact, redact_value
from holdfast.tokens.estimate import estimate_tokens

HANDOFF_RULES = f"""\
## Handoff
End with a handoff for the one who goes on with the work, and nothing after it: one JSON object
with `status` (complete, partial, failed, blocked), `decision` (PROCEED, STOP, CLARIFY),
`context_summary`, `files_changed` and `issues`. `context_summary` has at most {MAX_TOKENS} tokens:

- Include: findings that matter next, decisions, paths of files that need attention, names of
  patterns to follow, constraints, next steps.
- Leave out: search queries and grep patterns, steps of thinking, contents of files, errors already
  resolved, approaches not chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoffRequest:
    """What an orchestrator gives to a sub-agent."""

    task_id: str
    phase: str
    context: str = ""
    constraints: tuple[str, ...] = ()
    previous_findings: str = ""
    expected_output: str = ""

    def prompt(self) -> str:
        """Return the prompt for the sub-agent; earlier findings are shortened to 500 tokens."""
        parts = [f"# Task {self.task_id}: {self.phase}", self.context]
        if self.constraints:
            parts.append("Constraints:\n" + "\n".join(f"- {text}" for text in self.constraints))
        if self.previous_findings:
            parts.append(f"Found before:\n{shorten(self.previous_findings)}")
        if self.expected_output:
            parts.append(f"Expected: {self.expected_output}")
        return "\n\n".join([*(part for part in parts if part), HANDOFF_RULES])


@dataclass(frozen=True, slots=True, kw_only=True)
class Handoff:
    """What a sub-agent returned; the summary is always within the token limit."""

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
    """What was wrong with the response and was repaired as far as possible."""
    raw_tokens: int = field(default=0, compare=False)

    @classmethod
    def parse(cls, raw: str, *, tokens: int = MAX_TOKENS) -> Handoff:
        """Parse a response. Never raises: missing fields are empty, long summaries shortened."""
        clean = redact(raw)
        fields, problems = parse_response(clean)
        summary = shorten(fields.pop("context_summary"), tokens)
        files, issues = tuple(fields.pop("files_changed")), tuple(fields.pop("issues"))
        return cls(
            context_summary=summary,
            files_changed=files,
            issues=issues,
            findings=redact_value(fields.pop("findings")),
            problems=tuple(problems),
            raw_tokens=estimate_tokens(clean),
            **fields,
        )

    @property
    def tokens(self) -> int:
        """The estimated tokens of what is handed on: everything but the findings."""
        texts = [self.context_summary, *self.files_changed, *self.issues]
        return estimate_tokens("\n".join(texts))

    def as_dict(self) -> dict[str, Any]:
        """Return all fields as values that JSON can represent."""
        return {**asdict(self), "tokens": self.tokens}
