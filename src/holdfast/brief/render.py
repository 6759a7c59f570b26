"""Write the brief: Markdown that a model reads well, within both budgets."""

from __future__ import annotations

import zlib

from holdfast.brief import roles
from holdfast.brief.gap import Summary
from holdfast.brief.item import Item
from holdfast.brief.items import SECTIONS, items
from holdfast.brief.pack import Room, pack
from holdfast.brief.tokens import estimate, units
from holdfast.state.rules.compactions import MARKER
from holdfast.state.wording import one_line as short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.state.model import State

HEADINGS = {key: f"\n## {title}" for key, title in SECTIONS}
IN_OPENING = 400


class Brief:
    """A rendered brief, what stands in it, and what was left out and why."""

    __slots__ = ("id", "left_out", "said", "shown", "text")

    def __init__(
        self, text: str, ident: str, shown: list[Item], left_out: list[Item], said: list[Item]
    ) -> None:
        self.text = text
        self.id = ident
        self.shown = shown
        self.left_out = left_out
        self.said = said

    @property
    def tokens(self) -> int:
        return estimate(self.text)

    @property
    def units(self) -> int:
        return units(self.text)


def build(
    state: State,
    *,
    tokens: int,
    characters: int,
    summary: str | None = None,
    role: str | None = None,
    recall: str = "holdfast recall",
    session: str = "",
) -> Brief:
    """The best brief of this state that stays within `tokens` and `characters`."""
    weigh = roles.weights(role)
    everything = items(state)
    for item in everything:
        item.value *= weigh.get(item.section, 1.0)
    told = Summary(summary) if summary else None
    said = [item for item in everything if told and told.says(item)]
    known = {id(item) for item in said}
    wanted = [item for item in everything if id(item) not in known and not _opens(item, state)]
    opening, closing = _opening(state), _closing(recall)
    room = Room(tokens, characters)
    if not room.take(_title("0" * 8) + _body(opening, [], closing)):
        # So little room that a pointer must do; and if not even that fits, nothing.
        opening = ""
        if not room.take(_title("0" * 8) + _body(opening, [], closing)):
            return Brief("", "", [], everything, [])
    shown = pack(wanted, room, HEADINGS.__getitem__)
    body = _body(opening, shown, closing)
    ident = f"{zlib.crc32((session + body).encode('utf-8', 'replace')):08x}"
    names = {id(item) for item, _ in shown}
    left_out = [item for item in wanted if id(item) not in names]
    return Brief(_title(ident) + body, ident, [item for item, _ in shown], left_out, said)


def _title(ident: str) -> str:
    return f"# Where this session stands ({MARKER}{ident})"


def _opens(item: Item, state: State) -> bool:
    """The opening quotes a short latest request in full: once is enough."""
    latest = state["requests"][-1]["line"] if state["requests"] else 0
    return item.kind == "request" and item.line == latest and len(item.quote) <= IN_OPENING


def _opening(state: State) -> str:
    """Works alone: a host that shows only a preview shows this."""
    count = len(state["compactions"])
    so_far = f" It has been compacted {count}× before." if count else ""
    told = [
        "The conversation before this point was summarised to save room."
        f"{so_far} This page was read from the session's own transcript, not from the summary: "
        "“quotes” are verbatim, (L12) is transcript line 12."
    ]
    if state["requests"]:
        last = state["requests"][-1]
        told.append(f"Latest request: “{short(last['text'], IN_OPENING)}” (L{last['line']}).")
    running = [item for item in state["plan"] if item["status"] == "in_progress"]
    if running:
        told.append(f"In progress: {short(running[-1]['text'], 120)} (L{running[-1]['line']}).")
    failing = [check for check in state["checks"] if not check["ok"] and check["kind"] != "run"]
    if failing:
        told.append(f"Failing: `{short(failing[-1]['command'], 120)}` (L{failing[-1]['line']}).")
    return " ".join(told)


def _closing(recall: str) -> str:
    return f'Everything else is one lookup away: `{recall} "words"`, or `{recall} L12` for a line.'


def _body(opening: str, shown: list[tuple[Item, str]], closing: str) -> str:
    lines = ["", "", opening] if opening else [""]
    section = ""
    for item, form in shown:
        if item.section != section:
            section = item.section
            lines.append(HEADINGS[section])
        lines.append(form)
    return "\n".join([*lines, "", closing, ""])
