"""The first lines of a brief, which work alone, and the last, which says how to look things up."""

from __future__ import annotations

from holdfast.brief.item import ref
from holdfast.state.rules.compactions import MARKER
from holdfast.state.wording import one_line as short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.brief.item import Item
    from holdfast.brief.pack import Room
    from holdfast.state.model import State

# The share of the room that the opening may take, and how much of the latest request it quotes.
SHARE = 0.3
QUOTES = (400, 240, 120)
# Tokens that a host shows of what it keeps out of the conversation: 2 KB.
PREVIEW = 700
HOW_TO_READ = "“Quotes” are verbatim; (L12) is line 12 of the transcript."


def title(ident: str) -> str:
    return f"# Where this session stands ({MARKER}{ident})"


def fitting(state: State, recall: str, room: Room, *, beside_summary: bool) -> tuple[str, str]:
    """The fullest opening that leaves room for the rest, and the closing; the room is taken."""
    last = closing(recall)
    alone = room.tokens > PREVIEW
    for quote in QUOTES:
        first = opening(state, quote, beside_summary=beside_summary, alone=alone)
        if room.cost(first) <= SHARE * room.tokens and room.take(_frame(first, last)):
            return first, last
    for first in (HOW_TO_READ, ""):
        if room.take(_frame(first, last)):
            return first, last
    return "", ""


def _frame(first: str, last: str) -> str:
    return "\n".join([title("0" * 8), "", first, "", last, ""])


def opening(state: State, quote: int, *, beside_summary: bool, alone: bool = True) -> str:
    """Works alone: a host that shows only a preview shows this.

    A brief that fits into a preview as a whole need not say things twice.
    """
    made = state["compactions"]
    # Some hosts write the boundary before they ask for the brief, some after.
    count = len(made) if made and not made[-1]["reply_line"] else len(made) + 1
    told = [HOW_TO_READ]
    if not beside_summary or count > 1:
        times = f"{count}×" if count > 1 else "once"
        told.insert(0, f"Compacted {times}; this page is from the session's log.")
    if state["requests"]:
        last = state["requests"][-1]
        told.append(f"Latest request: “{short(last['text'], quote)}” (L{last['line']}).")
    if not alone:
        return " ".join(told)
    running = [item for item in state["plan"] if item["status"] == "in_progress"]
    if running:
        item = running[-1]
        told.append(f"In progress: {short(item['text'], 100)} {ref(item['told'], item['line'])}.")
    failing = [check for check in state["checks"] if not check["ok"] and check["kind"] != "run"]
    if failing:
        told.append(f"Failing: `{short(failing[-1]['command'], 60)}` {ref(failing[-1]['call'])}.")
    return " ".join(told)


def says(opening: str, item: Item, state: State) -> bool:
    """The opening quotes a short latest request in full: once is enough."""
    latest = state["requests"][-1]["line"] if state["requests"] else 0
    is_latest = item.kind == "request" and item.line == latest
    return is_latest and f"“{short(item.quote, 10_000)}”" in opening


def closing(recall: str) -> str:
    return f'Everything else is one lookup away: `{recall} "words"` or `{recall} L12`.'
