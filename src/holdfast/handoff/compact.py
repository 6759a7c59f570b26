"""A report cut to its budget by rules: what the next one needs stays, how it was found goes."""

from __future__ import annotations

from holdfast.brief.tokens import cost, estimate
from holdfast.handoff.file_list import endings, file_list
from holdfast.handoff.units import CONSTRAINT, PROCESS, Unit, units
from holdfast.names.words import FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.names.words import Name

MOST_TOKENS = 500
# No unit is worth more than a few names, and long ones pay for their length.
NAME, MOST_NAMES, LENGTH = 1.5, 6, 0.7
# A report says what matters at its beginning and at its end.
EDGE, BEGINNING, END = 1.3, 0.1, 0.85
# So much of the budget may go to constraints before they compete with the rest, and to a bare
# list of files.
FOR_CONSTRAINTS, FOR_FILES = 0.6, 0.8
MOST_UNITS = 600


def compact(text: str, tokens: int = MOST_TOKENS) -> str:
    """The text within so many tokens: as it is if it fits, else the units that matter most.

    Constraints stay, and so does every path that the text names outside of code, as long as there
    is room for its letters at all.
    """
    if estimate(text) <= tokens:
        return text.strip()
    found = [unit for unit in units(text) if unit.text][:MOST_UNITS]
    paths = list(dict.fromkeys(name for unit in found for name in unit.files))
    chosen: set[int] = set()
    room = tokens - _price(file_list(paths, tokens * FOR_FILES))
    _take_constraints(found, chosen, min(room, tokens * FOR_CONSTRAINTS))
    # What a chosen unit says of a file need not be in the list: that makes room for more units.
    for _ in range(3):
        _take(found, chosen, tokens - _price(_written(found, chosen, paths, tokens)))
    written = _written(found, chosen, paths, tokens)
    while estimate(written) > tokens and chosen:
        chosen.remove(max(chosen, key=lambda n: (found[n].kind != CONSTRAINT, n)))
        written = _written(found, chosen, paths, tokens)
    return written if estimate(written) <= tokens else ""


def _price(text: str) -> float:
    return cost(text) + 1.0 if text else 0.0


def _take_constraints(found: list[Unit], chosen: set[int], room: float) -> None:
    for number, unit in enumerate(found):
        if unit.kind == CONSTRAINT and unit.price <= room:
            chosen.add(number)
            room -= unit.price


def _take(found: list[Unit], chosen: set[int], room: float) -> None:
    """Greedily what is worth most for its length, counting only names not told yet."""
    told = {name for number in chosen for name in found[number].names}
    worth = {
        number: _worth(found, number, told)
        for number, unit in enumerate(found)
        if number not in chosen and unit.kind != PROCESS
    }
    while worth:
        best = max(worth, key=worth.__getitem__)
        value, unit = worth.pop(best), found[best]
        if value > 0 and unit.price <= room:
            chosen.add(best)
            room -= unit.price
            fresh = unit.names - told
            told |= fresh
            for number in worth:
                if not fresh.isdisjoint(found[number].names):
                    worth[number] = _worth(found, number, told)


def _worth(found: list[Unit], number: int, told: set[Name]) -> float:
    unit = found[number]
    fresh = min(MOST_NAMES, len(unit.names - told))
    place = number / len(found)
    edge = EDGE if place <= BEGINNING or place >= END else 1.0
    worth: float = edge * (unit.kind + NAME * fresh) / unit.price**LENGTH
    return worth


def _written(found: list[Unit], chosen: set[int], paths: list[str], tokens: int) -> str:
    """The chosen units in their order, and the files that none of them names."""
    lines = [found[number].text for number in sorted(chosen)]
    said = {name for number in chosen for kind, name in found[number].names if kind == FILE}
    said |= endings(said)
    missing = [path for path in paths if path not in said]
    listed = file_list(missing, tokens * FOR_FILES)
    return "\n".join([*lines, listed] if listed else lines)
