"""One thing worth saying, and how it is written."""

from __future__ import annotations

from holdfast.state.wording import one_line as short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Lines that are no farther apart than this are told as a range.
WIDEST_RANGE = 50


class Item:
    """One thing worth saying. `forms` go from full to short; `quote` is what must survive."""

    __slots__ = ("floor", "forms", "kind", "line", "names", "quote", "section", "value")

    def __init__(
        self,
        section: str,
        kind: str,
        value: float,
        line: int,
        forms: tuple[str, ...],
        *,
        quote: str = "",
        names: tuple[str, ...] = (),
        floor: bool = False,
    ) -> None:
        self.section = section
        self.kind = kind
        self.value = value
        self.line = line
        self.forms = forms
        self.quote = quote
        self.names = names
        self.floor = floor


def ref(*lines: int) -> str:
    """Where something stands; more than one line if what is said of it stands apart."""
    return f"({' '.join(f'L{line}' for line in dict.fromkeys(lines) if line)})"


def quoted(text: str, most: int) -> str:
    return f"“{short(text, most)}”"


def cited(places: Iterable[list[int]]) -> str:
    """The fewest lines in which all of them stand, found greedily; close ones as a range."""
    waiting = [lines for lines in places if lines]
    often: dict[int, int] = {}
    for lines in waiting:
        for line in lines:
            often[line] = often.get(line, 0) + 1
    chosen: dict[int, None] = {}
    for lines in waiting:
        if not any(line in chosen for line in lines):
            chosen[max(lines, key=lambda line: (often[line], line))] = None
    return f"({' '.join(_ranges(sorted(chosen)))})" if chosen else ""


def _ranges(lines: list[int]) -> Iterator[str]:
    first = 0
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else 0
        first = first or line
        if not following or following - first > WIDEST_RANGE:
            yield f"L{first}" if first == line else f"L{first}–{line}"
            first = 0
