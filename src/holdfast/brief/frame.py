"""The first lines of a brief, which work alone, and the last, which says how to look things up."""

from __future__ import annotations

from holdfast.brief.history import before_now, ended
from holdfast.brief.item import ref
from holdfast.brief.template import TITLE
from holdfast.brief.words import answering
from holdfast.state.rules.compactions import MARKER
from holdfast.state.wording import one_line as short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.brief.gap import Summary
    from holdfast.brief.item import Item
    from holdfast.brief.pack import Room
    from holdfast.state.model import State

# The share of the room that the opening may take, and how much of the latest request it quotes.
SHARE = 0.2
QUOTES = (400, 240, 120, 80)
# Of a brief of so many tokens the 2 KB that a host may show as a preview hold all that comes before
# files: what is open stands there anyway.
PREVIEW = 1000
# Briefs of so few tokens are framed in fewer words.
SMALL = 1200
# In still smaller ones earlier stretches are no more than a line to look up, and names are told
# with as little besides as can be.
LITTLE = 600
SHORT_TITLE = "This session"
# About how much of a request's line is not its words.
LABEL = 30
HOW_TO_READ = "“…” is verbatim, (L12) its line 12."


def title(name: str, ident: str, size: float) -> str:
    """A role's own title stays."""
    told = SHORT_TITLE if name == TITLE and size <= LITTLE else name
    return f"# {told} ({MARKER}{ident})"


def fitting(
    state: State, name: str, recall: str, room: Room, *, compacted: bool, told: Summary | None
) -> tuple[str, str]:
    """The fullest opening that leaves room for the rest, and the closing; the room is taken."""
    size = room.tokens
    last = closing(recall, size, truncated=True)
    for quote in QUOTES:
        first = opening(state, quote, size, compacted=compacted, told=told)
        if room.cost(first) <= SHARE * size and room.take(_frame(name, first, last, size)):
            return first, last
    for first in (HOW_TO_READ, ""):
        if room.take(_frame(name, first, last, size)):
            return first, last
    return "", ""


def _frame(name: str, first: str, last: str, size: float) -> str:
    return "\n".join([title(name, "0" * 8, size), first, last, ""])


def how_to_read(state: State, size: float, *, compacted: bool) -> str:
    """Where these lines come from, and which compaction was just made."""
    number = len(ended(state)) + 1
    # A larger brief tells of earlier stretches in a section of their own.
    before = f" ({_before(state, size)})" if number > 1 and size <= SMALL else ""
    when = f"After compaction {number}{before}, from" if compacted else "From"
    return f"{when} the log, by line (L12)." if size <= SMALL else f"{when} the log: {HOW_TO_READ}"


def _before(state: State, size: float) -> str:
    eras = ended(state)
    return before_now(state) if size > LITTLE else f"{len(eras)} at L{eras[-1]}"


def opening(
    state: State, quote: int, size: float, *, compacted: bool, told: Summary | None = None
) -> str:
    """Works alone: a host that shows only a preview shows this.

    A brief that fits into a preview as a whole need not say things twice, and what the summary
    has word for word need not be quoted.
    """
    lead = [how_to_read(state, size, compacted=compacted)]
    if state["requests"]:
        last = state["requests"][-1]
        said = told is not None and told.quotes(last["text"])
        request = "as in the summary" if said else f"“{short(last['text'], quote)}”"
        if size > SMALL or not said:
            lead.append(f"Latest request: {request}{answering(last)} (L{last['line']}).")
    if size <= PREVIEW:
        return " ".join(lead)
    first: list[str] = []
    running = [item for item in state["plan"] if item["status"] == "in_progress"]
    if running:
        item = running[-1]
        first.append(f"in progress: {short(item['text'], 100)} {ref(item['told'], item['line'])}")
    failing = [check for check in state["checks"] if not check["ok"] and check["kind"] != "run"]
    if failing:
        first.append(f"failing: `{short(failing[-1]['command'], 60)}` {ref(failing[-1]['call'])}")
    return " ".join([*lead, f"Open now: {'; '.join(first)}."] if first else lead)


def unsaid(opening: str, item: Item, state: State, size: float) -> bool:
    """Whether an item says more than the opening, which quotes the latest request."""
    if item.kind == "era" and f"({_before(state, size)})" in opening:
        item.floor = False
    latest = state["requests"][-1]["line"] if state["requests"] else 0
    if item.kind != "request" or item.line != latest:
        return True
    known = next((size for size in QUOTES if f"“{short(item.quote, size)}”" in opening), 0)
    if known:
        # Told once already: only words that the opening has no room for are worth more.
        item.floor = False
        item.forms = tuple(form for form in item.forms if len(form) > known + LABEL)
    return bool(item.forms) and len(short(item.quote, 10_000)) > known


def closing(recall: str, size: float, *, truncated: bool, pointed: str = "") -> str:
    """How to look things up, and whether anything had to go."""
    small = size <= SMALL
    how = f"`{recall} L12` or words" if small else f'`{recall} L12` or `{recall} "words"`'
    if not truncated:
        return f"Look up more: {how}." if small else f"Look up what stands behind it: {how}."
    what = f"{pointed}; " if pointed else ""
    finds = "" if size <= LITTLE else " finds the rest"
    return f"*[Brief truncated due to token limit: {what}{how}{finds}]*"
