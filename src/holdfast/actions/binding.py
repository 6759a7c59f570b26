"""The rules that bind whoever has not heard them: a sub-agent, or a conversation after `/clear`."""

from __future__ import annotations

from holdfast.brief.tokens import cost
from holdfast.state.wording import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.state.model import State

MOST_TOKENS = 500
TITLE = (
    "The user set these rules for the session that you work for. They bind you too; "
    "“quotes” are verbatim:"
)
AFTER_CLEAR = (
    "The conversation was cleared. The user set these rules before, and they hold on; “quotes” are "
    "verbatim:"
)
RULED_OUT = "Ruled out before, do not try it again:"


def binding(state: State, title: str = TITLE) -> str:
    """Prohibitions first, then other rules, then what was ruled out; nothing if there is none."""
    rules = [rule for rule in state["rules"] if not rule["superseded"]]
    rules.sort(key=lambda rule: (rule["kind"] != "prohibition", -rule["line"]))
    rejected = [one for one in reversed(state["decisions"]) if one["kind"] == "rejected"]
    room = MOST_TOKENS - cost(title)
    kept, room = _fitting([rule["text"] for rule in rules], room)
    avoided, _ = _fitting([one["text"] for one in rejected], room - cost(RULED_OUT) - 1)
    parts = [title, *kept] if kept else []
    if avoided:
        parts += [RULED_OUT, *avoided]
    return "\n".join(parts)


def _fitting(texts: list[str], room: float) -> tuple[list[str], float]:
    """The lines that fit, in order; one that is too long makes way for a shorter one."""
    kept = []
    for text in dict.fromkeys(texts):
        line = f"- “{one_line(text, 400)}”"
        needed = cost(line) + 0.4
        if needed <= room:
            kept.append(line)
            room -= needed
    return kept, room
