"""Chooses what a brief shows: each line competes by its worth for its room.

An item of value `v` whose form takes `c` tokens is worth `v * c ** 0.8`: a longer text says more,
but less and less per token. Forms are chosen in the order of what they add per token, until the
budget is used up or what is left is not worth its room.
"""

from __future__ import annotations

from holdfast.tokens.estimate import token_cost, utf16_units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from holdfast.brief.items import Item

SIZE_EXPONENT = 0.8
# A form that adds less worth per token than this is not shown, even if there is room.
MIN_WORTH_PER_TOKEN = 1.0
# The estimate never yields more characters per token, so a longer text is rejected unmeasured.
MAX_CHARS_PER_TOKEN = 4.2


class BriefBudget:
    """What is left of the two limits of a brief: estimated tokens, and the host's characters."""

    def __init__(
        self, tokens: float, characters: int, cost: Callable[[str], float] = token_cost
    ) -> None:
        self.tokens = tokens
        self.characters = characters
        self._estimate = cost
        self._costs: dict[str, float] = {}
        self._line_break_cost = cost("\n")

    def cost(self, text: str) -> float:
        """The estimated tokens of a text, which is estimated once and asked for several times."""
        cost = self._costs.get(text)
        if cost is None:
            cost = self._costs[text] = self._estimate(text)
        return cost

    def fits(self, text: str) -> bool:
        return self._measure_if_fits(text) is not None

    def take(self, text: str) -> bool:
        """Use the budget for this text; returns False, and takes nothing, if it does not fit."""
        size = self._measure_if_fits(text)
        if size is None:
            return False
        self.tokens -= size[0]
        self.characters -= size[1]
        return True

    def give_back(self, text: str) -> None:
        tokens, characters = self._measure(text)
        self.tokens += tokens
        self.characters += characters

    def _measure_if_fits(self, text: str) -> tuple[float, int] | None:
        if len(text) > MAX_CHARS_PER_TOKEN * self.tokens:
            return None
        tokens, characters = self._measure(text)
        if tokens > self.tokens or characters > self.characters:
            return None
        return tokens, characters

    def _measure(self, text: str) -> tuple[float, int]:
        """The tokens and characters of a text and its line break."""
        return self.cost(text) + self._line_break_cost, utf16_units(text) + 1


def pack_items(
    items: Sequence[Item], budget: BriefBudget, heading: Callable[[str], str]
) -> tuple[list[tuple[Item, str]], bool]:
    """The items that are worth their room, each with its form, in the order given; and whether one
    that would be worth it did not fit. Required items get their shortest form first."""
    packing = _Packing(items, budget, heading)
    required = [index for index, item in enumerate(items) if item.is_required]
    for index in sorted(required, key=lambda index: -items[index].value):
        packing.add(index, len(items[index].forms) - 1)
    is_truncated = False
    # What a longer form adds per token only falls from one form to the next, so the offers of an
    # item come up from the shortest form to the longest.
    for worth, index, form in sorted(_find_offers(items, budget)):
        if -worth < MIN_WORTH_PER_TOKEN:
            break
        if packing.is_next(index, form) and not packing.add(index, form):
            is_truncated = is_truncated or index not in packing.chosen
    chosen = [(items[index], items[index].forms[packing.chosen[index]]) for index in packing.chosen]
    order = {id(item): index for index, item in enumerate(items)}
    return sorted(chosen, key=lambda pair: order[id(pair[0])]), is_truncated


def _find_offers(items: Sequence[Item], budget: BriefBudget) -> Iterator[tuple[float, int, int]]:
    """What each form of each item adds per token over the next shorter one, as a negative number
    to sort by, with the numbers of the item and the form."""
    for index, item in enumerate(items):
        before = 0.0
        for form in reversed(range(len(item.forms))):
            cost = max(before + 1.0, budget.cost(item.forms[form]) + 1)
            added = (cost**SIZE_EXPONENT - before**SIZE_EXPONENT) / (cost - before)
            yield -item.value * item.novelty * added, index, form
            before = cost


class _Packing:
    """The forms that are chosen so far."""

    def __init__(
        self, items: Sequence[Item], budget: BriefBudget, heading: Callable[[str], str]
    ) -> None:
        self.chosen: dict[int, int] = {}
        self._items = items
        self._budget = budget
        self._heading = heading
        self._sections: set[str] = set()

    def is_next(self, index: int, form: int) -> bool:
        """Whether the next shorter form of this item is chosen, or there is none."""
        return self.chosen.get(index, len(self._items[index].forms)) == form + 1

    def add(self, index: int, form: int) -> bool:
        """Choose this form in place of a shorter one; returns False if it does not fit."""
        item, old = self._items[index], self.chosen.get(index)
        if old is not None:
            self._budget.give_back(item.forms[old])
        title = "" if item.section in self._sections else self._heading(item.section) + "\n"
        if self._budget.take(title + item.forms[form]):
            self.chosen[index] = form
            self._sections.add(item.section)
            return True
        if old is not None:
            self._budget.take(item.forms[old])
        return False
