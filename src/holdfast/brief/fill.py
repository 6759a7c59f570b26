"""Share out the room: what must be told first, then names, then whatever says more.

The shares were chosen with `holdfast eval` (docs/why/quality.md): with little room names are what
an agent misses most once it knows what binds it; with more room words are worth more.
"""

from __future__ import annotations

from holdfast.brief.item import Item
from holdfast.brief.layout import Layout
from holdfast.brief.pack import pack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.brief.names import Name
    from holdfast.brief.pack import Room
    from holdfast.brief.template import Template
    from holdfast.state.model import State

# What must be told, in few words, leaves at least this share of the room.
LEAST_SHARE = 0.2
# Up to so many tokens all that is left then goes to names; above, with each token a little less.
ENOUGH = 800
LESS_ALONE, LESS_BESIDE_SUMMARY, FEWEST = 0.0003, 0.00007, 0.5
# Below so many tokens only what must be told is told.
SCARCE = 400
# The share of what is not scarce that the user's rules may take before names come.
BINDING = 0.5
# What was paid for once must fit again, however the sums are rounded.
ROUNDING = 0.01
# From so many tokens on what was left out is pointed at, by these names.
ROOMY = 700
KINDS = {
    "asked": "request", "rules": "rule", "failing": "failure", "plan": "plan item", "now": "step",
    "decided": "decision", "earlier": "earlier stage", "agents": "sub-agent", "notes": "note",
}  # fmt: skip

Shown = list[tuple[Item, str]]
Lines = dict[str, list[str]]


def fill(
    state: State,
    wanted: list[Item],
    choice: list[Name],
    room: Room,
    *,
    template: Template,
    beside_summary: bool,
) -> tuple[Shown, Sequence[Name], Lines, str]:
    """The items with the form of each, names and the lines that tell them, and pointers."""
    heading = template.heading
    must = _must(wanted, room)
    least = room.part(room.tokens * (1 - LEAST_SHARE))
    before = least.tokens
    floors = pack(must, least, heading, shortest=True)
    after = room.tokens - (before - least.tokens)
    share = _share(room.tokens, beside_summary) * template.weights.get("names", 1.0)
    kept = after * min(share, 1.0) if choice else 0.0
    for_words = room.part(room.tokens - kept + ROUNDING)
    shown = pack(wanted, for_words, heading, must=[item for item, _ in floors])
    left = for_words.part(for_words.tokens + kept - ROUNDING)
    pointed = pointers(wanted, shown) if room.tokens > ROOMY else ""
    pointed = pointed if left.take(pointed) else ""
    paid = {item.section for item, _ in shown}
    named, lines = _most_names(state, choice, left, heading, paid)
    if len(named) == len(choice) and len(shown) < len(wanted):
        left = room.without(joined(lines, heading, set())).without(pointed)
        shown = pack(wanted, left, heading, must=must)
    return shown, named, lines, pointed


def pointers(wanted: list[Item], shown: Shown) -> str:
    """What had no room is still pointed at: how many of each section, and where the last stands."""
    told = {id(item) for item, _ in shown}
    last: dict[str, list[int]] = {}
    for item in wanted:
        if id(item) not in told and item.line:
            last.setdefault(item.section, []).append(item.line)
    return ", ".join(
        f"{_counted(section, len(lines))} L{max(lines)}" for section, lines in last.items()
    )


def _counted(section: str, count: int) -> str:
    one = KINDS.get(section, f"{section} line")
    return one if count == 1 else f"{count} {one}s to"


def _must(wanted: list[Item], room: Room) -> list[Item]:
    """Floors, and as many of the user's rules as their share of the room holds."""
    floors = [item for item in wanted if item.floor]
    for item in floors if room.tokens > SCARCE else ():
        if item.kind == "request":
            # One line of a goal is for briefs that have no room for two.
            item.forms = item.forms[:-1] or item.forms
    left = BINDING * (room.tokens - SCARCE)
    for item in sorted(wanted, key=lambda one: -one.value):
        if item.section == "rules" and not item.floor:
            needed = room.cost(item.forms[-1] + "\n")
            if needed <= left:
                left -= needed
                floors.append(item)
    return floors


def _share(tokens: float, beside_summary: bool) -> float:
    less = LESS_BESIDE_SUMMARY if beside_summary else LESS_ALONE
    return min(1.0, max(FEWEST, 1.0 - less * (tokens - ENOUGH)))


def _most_names(
    state: State,
    choice: list[Name],
    room: Room,
    heading: Callable[[str], str],
    paid: set[str],
) -> tuple[Sequence[Name], Lines]:
    """As many names as there is room for, the likeliest first."""

    def fits(count: int) -> bool:
        return room.holds(joined(named_lines(state, choice[:count]), heading, paid))

    least, most = 0, len(choice)
    while least < most:
        middle = (least + most + 1) // 2
        least, most = (middle, most) if fits(middle) else (least, middle - 1)
    return choice[:least], named_lines(state, choice[:least])


def named_lines(state: State, chosen: Sequence[Name]) -> Lines:
    """The lines that tell names, by section."""
    if not chosen:
        return {}
    layout = Layout(state, chosen)
    found = {"files": layout.files(), "commands": layout.commands(), "names": layout.others()}
    return {section: lines for section, lines in found.items() if lines}


def joined(lines: Lines, heading: Callable[[str], str], paid: set[str]) -> str:
    """Sections as they will stand, without the headings that are there already."""
    told = [[*([] if key in paid else [heading(key)]), *lines[key]] for key in lines]
    return "\n".join(line for section in told for line in section)
