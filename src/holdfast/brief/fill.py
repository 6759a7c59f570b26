"""Share out the room: what must be told first, then names, then whatever says more.

The shares were chosen with `holdfast eval` (docs/why/quality.md): with little room names are what
an agent misses most once it knows what binds it; with more room words are worth more.
"""

from __future__ import annotations

from holdfast.brief.gap import Text
from holdfast.brief.item import Item
from holdfast.brief.layout import Layout, failing_at
from holdfast.brief.names import AMPLE, ENOUGH
from holdfast.brief.pack import pack
from holdfast.brief.words import OF_USER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from holdfast.brief.gap import Summary
    from holdfast.brief.names import Name
    from holdfast.brief.pack import Room
    from holdfast.brief.template import Template
    from holdfast.state.model import Check, State

# What must be told, in few words, leaves at least this share of the room.
LEAST_SHARE = 0.2
# Where there is more than enough, with each token a little less of what is left goes to names.
LESS_ALONE, LESS_BESIDE_SUMMARY, FEWEST = 0.00015, 0.00007, 0.5
# Below so many tokens only what must be told is told, and up to so many, and so many, a goal in one
# line, or in a little more.
SCARCE, FOR_A_LINE, LITTLE = 400, 450, 500
# The shares of what is not scarce that the user's rules, the user's decisions and what is open in a
# long plan may take before names come, and of what is more than enough that requests between the
# first and the latest may.
BINDING, DECIDED, PLANNED, ASKED = 0.5, 0.1, 0.3, 0.1
# So many of the names behind the first that did not fit are tried.
SHORTER = 10
# What was paid for once must fit again, however the sums are rounded.
ROUNDING = 0.01
# From so many tokens on what was left out is pointed at, at first only what matters most of it,
# by these names.
ROOMY, FEW = 700, 2
KINDS = {
    "asked": "request", "rules": "rule", "failing": "failure", "plan": "plan item", "now": "step",
    "decided": "decision", "earlier": "earlier stage", "agents": "sub-agent", "notes": "note",
}  # fmt: skip

Shown = list[tuple[Item, str]]
Lines = dict[str, list[str]]


class Filled:
    """The items with the form of each, the lines that tell names, and pointers to the rest."""

    __slots__ = ("lines", "named", "pointed", "shown", "whole")

    def __init__(
        self, shown: Shown, named: Sequence[Name], lines: Lines, pointed: str, *, whole: bool
    ) -> None:
        self.shown = shown
        self.named = named
        self.lines = lines
        self.pointed = pointed
        self.whole = whole
        """Whether nothing had to go."""


def fill(
    state: State,
    wanted: list[Item],
    choice: list[Name],
    room: Room,
    *,
    template: Template,
    opening: str,
    told: Summary | None,
    terse: bool = False,
) -> Filled:
    """As much of what is wanted, and as many of the names, as there is room for; in a `terse`
    brief names are told with as little besides as can be."""
    heading = template.heading
    must = _must(wanted, room, told)
    least = room.part(room.tokens * (1 - LEAST_SHARE))
    before = least.tokens
    floors = pack(must, least, heading, shortest=True)
    after = room.tokens - (before - least.tokens)
    share = _share(room.tokens, told is not None) * template.weights.get("names", 1.0)
    kept = after * min(share, 1.0) if choice else 0.0
    for_words = room.part(room.tokens - kept + ROUNDING)
    shown = pack(wanted, for_words, heading, must=[item for item, _ in floors])
    left = for_words.part(for_words.tokens + kept - ROUNDING)
    pointed = pointers(wanted, shown, room.tokens)
    pointed = pointed if left.take(pointed) else ""
    paid = {item.section for item, _ in shown}
    choice = _untold(choice, [opening, *(form for _, form in shown)])
    named, lines = _most_names(state, choice, left, heading, paid, terse=terse)
    all_named = len(named) == len(choice)
    if all_named:
        # What names did not need is for more words; nothing that was told goes.
        left = room.without(joined(lines, heading, set())).without(pointed)
        again = pack(wanted, left, heading, must=must)
        if {id(item) for item, _ in shown} <= {id(item) for item, _ in again}:
            shown = again
            fewer = pointers(wanted, shown, room.tokens)
            pointed = fewer if room.cost(fewer) <= room.cost(pointed) else ""
    whole = all_named and len(shown) == len(wanted)
    return Filled(shown, named, lines, pointed, whole=whole)


def _untold(choice: list[Name], words: list[str]) -> list[Name]:
    """The names that do not stand among the words; what became of a file only its row says."""
    told = Text("\n".join(words))
    return [name for name in choice if name.kind == "file" or not told.names(name.text, name.kind)]


def pointers(wanted: list[Item], shown: Shown, room: float) -> str:
    """What had no room is still pointed at: how many of each section, and where the last stands."""
    told = {id(item) for item, _ in shown}
    left = [item for item in wanted if id(item) not in told and item.line]
    last: dict[str, list[int]] = {}
    for item in sorted(left, key=lambda item: -item.value):
        last.setdefault(item.section, []).append(item.line)
    most = 0 if room <= ROOMY else FEW if room <= AMPLE else len(last)
    return ", ".join(
        f"{_counted(section, len(lines))} L{max(lines)}"
        for section, lines in list(last.items())[:most]
    )


def _counted(section: str, count: int) -> str:
    one = KINDS.get(section, f"{section} line")
    return one if count == 1 else f"{count} {one}s to"


def _must(wanted: list[Item], room: Room, told: Summary | None) -> list[Item]:
    """Floors, and as much of the user's rules, decisions and requests and of what is open in the
    plan as their shares hold."""
    spared = _spared(told, room) if told else ()
    floors = [item for item in wanted if item.floor and item.kind not in spared]
    # The more room, the more of a request has to be told.
    least = (room.tokens > FOR_A_LINE) + (room.tokens > LITTLE)
    for item in floors if least else ():
        if item.kind == "request":
            item.forms = item.forms[:-least] or item.forms
    by_value = sorted(wanted, key=lambda one: -one.value)
    rules = [item for item in by_value if item.section == "rules" and not item.floor]
    asked = [item for item in by_value if item.kind == "request" and not item.floor]
    floors += _affordable(rules, BINDING * (room.tokens - SCARCE), room)
    decided = [one for one in by_value if one.section == "decided" and one.value >= OF_USER]
    floors += _affordable(decided, DECIDED * (room.tokens - SCARCE), room)
    planned = [one for one in by_value if one.kind == "plan" and not one.floor]
    floors += _affordable(planned, PLANNED * (room.tokens - SCARCE), room)
    floors += _affordable(asked, ASKED * (room.tokens - ENOUGH), room)
    return floors


def _affordable(items: list[Item], tokens: float, room: Room) -> Iterator[Item]:
    """Those of them that fit into so many tokens, in few words."""
    for item in items:
        needed = room.cost(item.forms[-1] + "\n")
        if needed <= tokens:
            tokens -= needed
            yield item


def _spared(told: Summary, room: Room) -> set[str]:
    """What need not be told beside this summary: what was being done if it has a heading for that,
    and how many files changed where room is scarce."""
    scarce = {"counts"} if room.tokens <= SCARCE else set()
    return scarce | ({"doing"} if told.tells_current_work() else set())


def _share(tokens: float, beside_summary: bool) -> float:
    less = LESS_BESIDE_SUMMARY if beside_summary else LESS_ALONE
    return min(1.0, max(FEWEST, 1.0 - less * (tokens - ENOUGH)))


def _most_names(
    state: State,
    choice: list[Name],
    room: Room,
    heading: Callable[[str], str],
    paid: set[str],
    *,
    terse: bool,
) -> tuple[Sequence[Name], Lines]:
    """As many names as there is room for, the likeliest first."""

    failing = failing_at(state)

    def lines(some: Sequence[Name]) -> Lines:
        return named_lines(state, some, failing, terse=terse)

    def fits(some: Sequence[Name]) -> bool:
        return room.holds(joined(lines(some), heading, paid))

    least, most = 0, len(choice)
    while least < most:
        middle = (least + most + 1) // 2
        least, most = (middle, most) if fits(choice[:middle]) else (least, middle - 1)
    named = choice[:least]
    # Where the next one is too long, a shorter one may fit.
    for name in choice[least + 1 : least + 1 + SHORTER]:
        if fits([*named, name]):
            named.append(name)
    return named, lines(named)


def named_lines(
    state: State, chosen: Sequence[Name], failing: dict[str, Check], *, terse: bool = False
) -> Lines:
    """The lines that tell names, by section."""
    if not chosen:
        return {}
    layout = Layout(state, chosen, failing, terse=terse)
    found = {"files": layout.files(), "commands": layout.commands(), "names": layout.others()}
    return {section: lines for section, lines in found.items() if lines}


def joined(lines: Lines, heading: Callable[[str], str], paid: set[str]) -> str:
    """Sections as they will stand, without the headings that are there already."""
    told = [[*([] if key in paid else [heading(key)]), *lines[key]] for key in lines]
    return "\n".join(line for section in told for line in section)
