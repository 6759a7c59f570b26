"""Choose what fits: floors first, then by value, each in the fullest form there is room for."""

from __future__ import annotations

from holdfast.brief.tokens import cost as newest
from holdfast.brief.tokens import units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.brief.item import Item

# No text has more characters to a token by our estimate: a longer one need not be weighed.
CHARACTERS_PER_TOKEN = 4.2


class Room:
    """Two budgets at once: estimated tokens and the host's characters."""

    def __init__(
        self, tokens: float, characters: int, cost: Callable[[str], float] = newest
    ) -> None:
        self.tokens = tokens
        self.characters = characters
        self.cost = cost
        self._line = cost("\n")

    def part(self, tokens: float) -> Room:
        """Room for other tokens, with the same characters."""
        return Room(tokens, self.characters, self.cost)

    def without(self, text: str) -> Room:
        """What is left when this text is in it."""
        return Room(
            self.tokens - self.cost(text) - self._line, self.characters - units(text) - 1, self.cost
        )

    def holds(self, text: str) -> bool:
        if len(text) > CHARACTERS_PER_TOKEN * self.tokens:
            return False
        return self.cost(text) + self._line <= self.tokens and units(text) + 1 <= self.characters

    def take(self, text: str) -> bool:
        """Use up the room for these lines, if they fit."""
        if not self.holds(text):
            return False
        self.tokens -= self.cost(text) + self._line
        self.characters -= units(text) + 1
        return True

    def give_back(self, text: str) -> None:
        self.tokens += self.cost(text) + self._line
        self.characters += units(text) + 1


def pack(
    items: Sequence[Item],
    room: Room,
    heading: Callable[[str], str],
    *,
    must: Sequence[Item] | None = None,
    shortest: bool = False,
) -> list[tuple[Item, str]]:
    """The items to show with the form of each, in the order given; `shortest` is in few words.

    What `must` be told has room before anything is told at length: floors, unless others are given.
    """
    first = {id(item) for item in (items if shortest else must or ())}
    chosen: dict[int, str] = {}
    sections: set[str] = set()

    def add(number: int, forms: Sequence[str]) -> None:
        item = items[number]
        title = "" if item.section in sections else heading(item.section) + "\n"
        old = chosen.get(number)
        if old is not None:
            room.give_back(old)
        for form in forms:
            if room.take(title + form):
                chosen[number] = form
                sections.add(item.section)
                return
        if old is not None:
            room.take(old)

    by_value = sorted(range(len(items)), key=lambda n: (-items[n].value, n))
    for number in by_value:
        if id(items[number]) in first or (must is None and items[number].floor):
            add(number, items[number].forms[-1:])
    for number in by_value if not shortest else ():
        add(number, items[number].forms)
    return [(items[number], chosen[number]) for number in sorted(chosen)]
