"""Limits on the work of the second stage, per text and per request.

Work is counted, not timed: one unit is a character searched by one pattern, and a match costs
MATCH_UNITS. A machine of 2020 does about 100 million units a second. A text that needs more than
is left is withheld from there on, see `holdfast.redaction.redact`; it is never shown as it is.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator

MATCH_UNITS = 200
MAX_TEXT_UNITS = 100_000_000
# A text is searched when it enters, when it is stored and when it is emitted.
MAX_REQUEST_UNITS = 3 * MAX_TEXT_UNITS
# A hook may spend half of its time on redaction; with fewer units than this it reads no further.
HOOK_UNITS_PER_SECOND = 50_000_000
LOW_UNITS = 20_000_000


class OverBudgetError(Exception):
    """The work for a text, or for the request that it belongs to, is used up."""


class Budget:
    """Units that are left; `parent` is the budget of the request."""

    __slots__ = ("left", "parent")

    def __init__(self, units: int, parent: Budget | None = None) -> None:
        self.left = units
        self.parent = parent

    def spend(self, units: int) -> None:
        """Take units from this budget and its parent; raises OverBudgetError if none are left."""
        self.left -= units
        if self.parent is not None:
            self.parent.spend(units)
        if self.left < 0:
            raise OverBudgetError


# The function that finds the budget of the request or hook, if there is one.
_sources: list[Callable[[], Budget | None]] = []


def share_budget(find: Callable[[], Budget | None]) -> None:
    """Take what texts cost also from the budget that `find` returns: that of a request or hook."""
    _sources[:] = [find]


def start_text() -> Budget:
    """Return the budget of one text."""
    return Budget(MAX_TEXT_UNITS, _sources[0]() if _sources else None)


def scan(pattern: re.Pattern[str], text: str, budget: Budget) -> Iterator[re.Match[str]]:
    """Yield the matches of a pattern, and spend what that costs."""
    budget.spend(len(text))
    for match in pattern.finditer(text):
        budget.spend(MATCH_UNITS)
        yield match
