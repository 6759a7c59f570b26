"""Everything in a state that a brief could say, each with its value and its shorter forms."""

from __future__ import annotations

from holdfast.brief import things, words, work

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.brief.item import Item
    from holdfast.state.model import State

SECTIONS = (
    ("disagree", "Where the summary says otherwise; trust these lines"),
    ("asked", "Asked"),
    ("rules", "Rules of the user"),
    ("force", "Slash commands in force"),
    ("notes", "Notes by people; trust them over the summary"),
    ("failing", "Failing now"),
    ("plan", "Plan"),
    ("now", "Being done"),
    ("decided", "Decided"),
    ("git", "Git"),
    ("agents", "Sub-agents"),
)


def items(state: State) -> list[Item]:
    """In the order in which they stand in a brief. The same words are said once."""
    quoted: set[str] = set()
    found = []
    for item in _everything(state):
        if item.quote and item.quote in quoted:
            continue
        quoted.add(item.quote)
        found.append(item)
    return found


def _everything(state: State) -> list[Item]:
    return [
        *words.requests(state),
        *words.rules(state),
        *work.failing(state),
        *work.plan(state),
        *work.now(state),
        *words.decisions(state),
        *things.files(state),
        *things.git(state),
        *work.agents(state),
    ]
