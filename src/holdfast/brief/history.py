"""What came before earlier compactions, one line for each: the longer ago, the shorter."""

from __future__ import annotations

from holdfast.brief.item import Item, cited, ref
from holdfast.state.wording import one_line as short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.state.model import Commit, Request, State

# So many stretches between compactions are told one by one; all before them are one.
APART = 4
# Characters of each request, from the latest stretch to the one longest ago.
SIZES = (240, 160, 100, 60)


def eras(state: State) -> Iterator[Item]:
    """The stretches of work before the last one: what was asked and what was committed."""
    ends = ended(state)
    starts = [0, *ends[:-1]] if ends else []
    merged = max(0, len(ends) - APART)
    if merged:
        starts, ends = [0, *starts[merged + 1 :]], ends[merged:]
    for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
        age = len(ends) - 1 - number
        asked = [one for one in state["requests"][1:-1] if start < one["line"] <= end]
        made = [one for one in state["commits"] if start < one["line"] <= end]
        if asked or made:
            yield _era(merged + number + 1, asked, made, age)


def ended(state: State) -> list[int]:
    """Where earlier stretches ended: a compaction without a reply is the one that is now."""
    known = state["compactions"]
    now = bool(known) and not known[-1]["reply_line"]
    return [one["line"] for one in (known[:-1] if now else known)]


def is_earlier(state: State, line: int) -> bool:
    """Whether this line is of a stretch that an earlier compaction ended."""
    return any(line <= end for end in ended(state)[-1:])


def _era(ordinal: int, asked: Sequence[Request], made: Sequence[Commit], age: int) -> Item:
    size = SIZES[min(age, len(SIZES) - 1)]
    head = f"- before compaction {ordinal}: "
    lines = [[one["line"]] for one in (*asked, *made)]
    return Item(
        "earlier",
        "era",
        62.0 - 4 * age,
        (*asked, *made)[-1]["line"],
        (
            head + "; ".join([*(_request(one, size) for one in asked), *_commits(made)]),
            head + "; ".join([*_first(asked, 60), *_commits(made[-1:], len(made) - 1)]),
            f"{head}{_count(asked, made)} {cited(lines)}",
        ),
    )


def _request(one: Request, size: int) -> str:
    return f"“{short(one['text'], size)}” {ref(one['line'])}"


def _first(asked: Sequence[Request], size: int) -> Iterator[str]:
    if asked:
        yield _request(asked[0], size)
    if more := [[one["line"]] for one in asked[1:]]:
        yield f"{len(more)} more {cited(more)}"


def _commits(made: Sequence[Commit], more: int = 0) -> Iterator[str]:
    for one in made:
        yield f"commit {one['sha']} {short(one['subject'], 60)} {ref(one['line'])}"
    if more > 0:
        yield f"{more} more"


def _count(asked: Sequence[Request], made: Sequence[Commit]) -> str:
    told = [f"{len(asked)} asked"] if asked else []
    return ", ".join([*told, f"{len(made)} committed"] if made else told)
