"""Guidance that PreCompact prints for the host's summarizer: what to keep word for word.

A "Compact Instructions" section in CLAUDE.md is applied unreliably, and cannot know the session.
So the guidance is built from the current state, as plain text that the host adds to the
summarizer's prompt.
"""

from __future__ import annotations

from holdfast.state.completeness import count_items
from holdfast.state.quoting import block_quote, plain_line, quote
from holdfast.tokens.estimate import utf16_units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.state.types import State

# The client truncates at 10,000 characters.
MAX_GUIDANCE_UNITS = 9500
MAX_COMMANDS_UNITS = 4000
MAX_RULES_UNITS = 3000
# It asks for more and tells nothing to be left out: a summarizer that was told what would be
# restored for it left out what was not (docs/why/quality.md).
OPENING = (
    "Beside what you would write anyway, the summary should state, as far as it happened:\n"
    "- verdicts instead of hopes: which checks passed or failed last, with their figures, and what "
    "was changed or written since and not run;\n"
    "- negative results: what was tried, refused or ruled out, and why;\n"
    "- decisions with their reasons, and what the user said about them;\n"
    "- operating facts: how commands must be run here to work, ports, paths, ids, accounts;\n"
    "- what is committed, pushed, and neither;\n"
    "- open questions, to the user and from the user."
)


def render_guidance(state: State, commands: Sequence[tuple[str, str, str]] = ()) -> str:
    """Return the guidance as plain text, within the host's limit.

    `commands` are name, text and file of each active command. Empty if the state is empty.
    """
    if not count_items(state) and not commands:
        return ""
    parts = [OPENING, _render_rules(state), _render_commands(commands)]
    text = ""
    for part in parts:
        longer = f"{text}\n\n{part}" if text and part else text or part
        if utf16_units(longer) <= MAX_GUIDANCE_UNITS:
            text = longer
    return text


def _render_rules(state: State) -> str:
    rules = [rule for rule in state["rules"] if not rule["superseded"]]
    rules.sort(key=lambda rule: (rule["kind"] != "prohibition", -rule["line"]))
    lines = (f"- {quote(rule['text'], 400)}" for rule in rules)
    return _render_list("These rules of the user still apply; keep them word for word:", lines)


def _render_commands(commands: Sequence[tuple[str, str, str]]) -> str:
    if not commands:
        return ""
    texts = [f"/{plain_line(name, 100)}:\n{block_quote(text)}" for name, text, _ in commands]
    return "\n\n".join(
        [
            "These slash commands were started, and the rules in their files still apply. Keep the "
            "rules; the commands themselves have been run and are not to be run again.",
            *texts,
        ]
    )


def _render_list(title: str, lines: Iterator[str], units_left: int = MAX_RULES_UNITS) -> str:
    kept = [title]
    for line in lines:
        units_left -= utf16_units(line) + 1
        if units_left < 0:
            break
        kept.append(line)
    return "\n".join(kept) if len(kept) > 1 else ""
