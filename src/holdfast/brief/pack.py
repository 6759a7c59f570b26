"""Chooses the items that fit: required items first, then by value, each in its fullest form."""

from __future__ import annotations

from holdfast.tokens.estimate import token_cost, utf16_units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.brief.items import Item

# The estimate never yields more characters per token, so a longer text is rejected unmeasured.
MAX_CHARS_PER_TOKEN = 4.2


class BriefBudget:
    """What is left of the two limits of a brief: estimated tokens, and the host's characters."""

    def __init__(
        self, tokens: float, characters: int, cost: Callable[[str], float] = token_cost
    ) -> None:
        self.tokens = tokens
        self.characters = characters
        self.cost = cost
        self._line_break_cost = cost("\n")

    def with_tokens(self, tokens: float) -> BriefBudget:
        """A budget of other tokens and the same characters."""
        return BriefBudget(tokens, self.characters, self.cost)

    def without(self, text: str) -> BriefBudget:
        """What is left after this text and a line break."""
        return BriefBudget(
            self.tokens - self.cost(text) - self._line_break_cost,
            self.characters - utf16_units(text) - 1,
            self.cost,
        )

    def fits(self, text: str) -> bool:
        if len(text) > MAX_CHARS_PER_TOKEN * self.tokens:
            return False
        tokens = self.cost(text) + self._line_break_cost
        return tokens <= self.tokens and utf16_units(text) + 1 <= self.characters

    def take(self, text: str) -> bool:
        """Use the budget for this text; returns False, and takes nothing, if it does not fit."""
        if not self.fits(text):
            return False
        self.tokens -= self.cost(text) + self._line_break_cost
        self.characters -= utf16_units(text) + 1
        return True

    def give_back(self, text: str) -> None:
        self.tokens += self.cost(text) + self._line_break_cost
        self.characters += utf16_units(text) + 1


def pack_items(
    items: Sequence[Item],
    budget: BriefBudget,
    heading: Callable[[str], str],
    *,
    required: Sequence[Item] | None = None,
    shortest: bool = False,
) -> list[tuple[Item, str]]:
    """The items that fit, each with its form, in the order given; `budget` is used up.

    The `required` items (by default those that say so themselves) get their shortest form before
    any item gets a longer one. With `shortest` every item has its shortest form.
    """
    first = {id(item) for item in (items if shortest else required or ())}
    forms: dict[int, str] = {}
    sections: set[str] = set()

    def add(index: int, candidates: Sequence[str]) -> None:
        item = items[index]
        title = "" if item.section in sections else heading(item.section) + "\n"
        old = forms.get(index)
        if old is not None:
            budget.give_back(old)
        for form in candidates:
            if budget.take(title + form):
                forms[index] = form
                sections.add(item.section)
                return
        if old is not None:
            budget.take(old)

    by_value = sorted(range(len(items)), key=lambda index: (-items[index].value, index))
    for index in by_value:
        if id(items[index]) in first or (required is None and items[index].is_required):
            add(index, items[index].forms[-1:])
    for index in by_value if not shortest else ():
        add(index, items[index].forms)
    return [(items[index], forms[index]) for index in sorted(forms)]
