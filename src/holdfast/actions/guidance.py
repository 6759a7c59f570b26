"""What PreCompact tells the host's summariser: what must stay word for word, and what need not.

The host applies a "Compact Instructions" section of CLAUDE.md unreliably, and that section cannot
know this session. So the live version is printed: plain text, pasted into the summariser's prompt.
"""

from __future__ import annotations

from holdfast.brief.tokens import units
from holdfast.state.richness import richness
from holdfast.state.wording import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.state.model import State

# The client cuts at 10,000 characters.
MOST_UNITS = 9500
ROOM_FOR_COMMANDS = 4000
ROOM_FOR_RULES = 3000
ROOM_FOR_PLAN = 1200
OPENING = (
    "Spend the summary on reasoning: what was understood, why things were done, what comes next. "
    "Exact file lists, command output, plan items and the user's earlier messages are restored "
    "word for word right after this summary, on a page titled “Where this session stands”, so "
    "they need no room here. Keep what cannot be read there: open questions, findings, and what "
    "was tried and why it did not work."
)


def guidance(state: State, commands: Sequence[tuple[str, str, str]] = ()) -> str:
    """Plain text, within what the host takes. `commands` are name, text and file of each.

    Nothing if nothing is known: a promise that cannot be kept would make the summary worse.
    """
    if not richness(state) and not commands:
        return ""
    parts = [OPENING, _rules(state), _commands(commands), _plan(state)]
    text = ""
    for part in parts:
        longer = f"{text}\n\n{part}" if text and part else text or part
        if units(longer) <= MOST_UNITS:
            text = longer
    return text


def _rules(state: State) -> str:
    rules = [rule for rule in state["rules"] if not rule["superseded"]]
    rules.sort(key=lambda rule: (rule["kind"] != "prohibition", -rule["line"]))
    lines = (f'- "{one_line(rule["text"], 400)}"' for rule in rules)
    return _listed("These of the user's rules hold on; keep them word for word:", lines)


def _plan(state: State) -> str:
    open_items = [item for item in state["plan"] if item["status"] in ("in_progress", "pending")]
    lines = (
        f"- {item['status'].replace('_', ' ')}: {one_line(item['text'], 200)}"
        for item in open_items
    )
    return _listed("The plan that is still open, for the next steps:", lines, ROOM_FOR_PLAN)


def _commands(commands: Sequence[tuple[str, str, str]]) -> str:
    if not commands:
        return ""
    told = [f"/{name}:\n{text}" for name, text, _ in commands]
    return "\n\n".join(
        [
            "These slash commands were started and their rules go on to hold. Keep the rules; the "
            "commands themselves have been run and are not to be run again.",
            *told,
        ]
    )


def _listed(title: str, lines: Iterator[str], room: int = ROOM_FOR_RULES) -> str:
    kept = [title]
    for line in lines:
        room -= units(line) + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join(kept) if len(kept) > 1 else ""
