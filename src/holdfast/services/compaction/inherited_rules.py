"""The user's rules for a model that has not seen them: a sub-agent, or a session after `/clear`."""

from __future__ import annotations

from holdfast.state.quoting import quote
from holdfast.tokens.estimate import token_cost

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.state.types import State

MAX_INHERITED_TOKENS = 500
SUBAGENT_TITLE = (
    "The user set these rules for the session that you work for. They bind you too; "
    "“quotes” are verbatim:"
)
AFTER_CLEAR_TITLE = (
    "The conversation was cleared. The user set these rules before, and they still apply; “quotes” "
    "are verbatim:"
)
RULED_OUT_TITLE = "Ruled out before, do not try it again:"


def render_inherited_rules(state: State, title: str = SUBAGENT_TITLE) -> str:
    """Return prohibitions, then other rules, then rejected approaches; empty if there are none."""
    rules = [rule for rule in state["rules"] if not rule["superseded"]]
    rules.sort(key=lambda rule: (rule["kind"] != "prohibition", -rule["line"]))
    rejected = [
        decision for decision in reversed(state["decisions"]) if decision["kind"] == "rejected"
    ]
    tokens_left = MAX_INHERITED_TOKENS - token_cost(title)
    rule_lines, tokens_left = _fit_lines([rule["text"] for rule in rules], tokens_left)
    rejected_lines, _ = _fit_lines(
        [decision["text"] for decision in rejected],
        tokens_left - token_cost(RULED_OUT_TITLE) - 1,
    )
    parts = [title, *rule_lines] if rule_lines else []
    if rejected_lines:
        parts += [RULED_OUT_TITLE, *rejected_lines]
    return "\n".join(parts)


def _fit_lines(texts: list[str], tokens_left: float) -> tuple[list[str], float]:
    """Return the lines that fit, in order, and the tokens left. A line that is too long is
    skipped, so that a shorter one after it can still fit.
    """
    lines = []
    for text in dict.fromkeys(texts):
        line = f"- {quote(text, 400)}"
        needed = token_cost(line) + 0.4
        if needed <= tokens_left:
            lines.append(line)
            tokens_left -= needed
    return lines, tokens_left
