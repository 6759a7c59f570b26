"""What came before earlier compactions, one line for each: the longer ago, the shorter."""

from __future__ import annotations

from holdfast.brief.item import Item, cited, ref
from holdfast.state.wording import one_line as short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeVar

    from holdfast.state.model import Commit, Request, State

    T = TypeVar("T", Commit, Request)

# So many stretches between compactions are told one by one; all before them are one.
APART = 4
# Characters of each request, from the latest stretch to the one longest ago.
SIZES = (240, 160, 100, 60)


def eras(state: State) -> Iterator[Item]:
    """The stretches of work before the last one: what was asked and what was committed.

    In few words they are told whatever else must go: none disappears.
    """
    ends = ended(state)
    if not ends:
        return
    starts = [0, *ends[:-1]]
    merged = max(0, len(ends) - APART)
    starts, ends = [0, *starts[merged + 1 :]], ends[merged:]
    told = [
        _Era(merged + number + 1, _between(state["requests"][1:-1], start, end),
             _between(state["commits"], start, end), end)
        for number, (start, end) in enumerate(zip(starts, ends, strict=True))
    ]  # fmt: skip
    sizes = [SIZES[min(age, len(SIZES) - 1)] for age in range(len(told))][::-1]
    full = [era.full(size) for era, size in zip(told, sizes, strict=True)]
    half, few = [era.half() for era in told], [era.few() for era in told]
    forms = (full, [*half[:-1], full[-1]], half, few, [f"- {before_now(state)} {ref(ends[-1])}"])
    yield Item("earlier", "era", 62.0, ends[-1], tuple(map("\n".join, forms)), floor=True)


def before_now(state: State) -> str:
    """All of them in a few words."""
    last = ended(state)[-1]
    asked = _between(state["requests"], 0, last)
    return f"{_count(len(asked), len(_between(state['commits'], 0, last)))} before L{last}"


def ended(state: State) -> list[int]:
    """Where earlier stretches ended: a compaction without a reply is the one that is now."""
    known = state["compactions"]
    now = bool(known) and not known[-1]["reply_line"]
    return [one["line"] for one in (known[:-1] if now else known)]


def is_earlier(state: State, line: int) -> bool:
    """Whether this line is of a stretch that an earlier compaction ended."""
    return any(line <= end for end in ended(state)[-1:])


def _between(some: Sequence[T], start: int, end: int) -> list[T]:
    return [one for one in some if start < one["line"] <= end]


class _Era:
    """One stretch, in more or fewer words."""

    def __init__(self, ordinal: int, asked: list[Request], made: list[Commit], end: int) -> None:
        self.head = f"- before compaction {ordinal}: "
        self.ordinal, self.asked, self.made, self.end = ordinal, asked, made, end

    def full(self, size: int) -> str:
        told = [*(_request(one, size) for one in self.asked), *_commits(self.made)]
        return self.head + "; ".join(told) if told else self.few()

    def half(self) -> str:
        told = [*_most_telling(self.asked, 60), *_commits(self.made[-1:], len(self.made) - 1)]
        return self.head + "; ".join(told) if told else self.few()

    def few(self) -> str:
        return f"{self.head}{_count(len(self.asked), len(self.made))} {ref(self.end)}"


def _request(one: Request, size: int) -> str:
    return f"“{short(one['text'], size)}” {ref(one['line'])}"


def _most_telling(asked: Sequence[Request], size: int) -> Iterator[str]:
    if not asked:
        return
    longest = max(asked, key=lambda one: len(one["text"]))
    yield _request(longest, size)
    if more := [[one["line"]] for one in asked if one is not longest]:
        yield f"{len(more)} more {cited(more)}"


def _commits(made: Sequence[Commit], more: int = 0) -> Iterator[str]:
    for one in made:
        yield f"commit {one['sha']} {short(one['subject'], 60)} {ref(one['line'])}"
    if more > 0:
        yield f"{more} more"


def _count(asked: int, made: int) -> str:
    told = [f"{asked} asked"] if asked else []
    told += [f"{made} committed"] if made else []
    return ", ".join(told) or "nothing asked, nothing committed"
