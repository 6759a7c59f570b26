"""Write the brief: Markdown that a model reads well, within both budgets."""

from __future__ import annotations

import zlib

from holdfast.brief import disagreement, frame, names, roles, words
from holdfast.brief.gap import Summary
from holdfast.brief.items import SECTIONS, items
from holdfast.brief.layout import Layout
from holdfast.brief.pack import Room, pack
from holdfast.brief.tokens import Estimator, units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.brief.item import Item
    from holdfast.brief.names import Name
    from holdfast.names.model import Index
    from holdfast.state.model import State

HEADINGS = {key: f"\n## {title}" for key, title in SECTIONS}
ORDER = {key: place for place, (key, _) in enumerate(SECTIONS)}
NAMED = (
    ("\n## Files", Layout.files),
    ("\n## Commands", Layout.commands),
    ("\n## Names", Layout.others),
)
# No estimate is trusted with more characters to a token than prose has on the newest tokenizers.
LOOSEST = 3.0
# The share of names where room is scarce and where there is plenty, and which that is, in tokens.
ALONE, BESIDE_SUMMARY, LEAST_SHARE = (0.7, 0.55), (0.8, 0.7), 0.2
SCARCE = 850


class Brief:
    """A rendered brief, what stands in it, and what was left out and why."""

    __slots__ = ("_estimator", "id", "left_out", "named", "said", "shown", "text")

    def __init__(
        self,
        text: str,
        ident: str,
        *,
        shown: list[Item],
        left_out: list[Item],
        said: list[Item],
        named: Sequence[Name] = (),
        estimator: Estimator,
    ) -> None:
        self.text = text
        self.id = ident
        self.shown = shown
        self.left_out = left_out
        self.said = said
        self.named = named
        self._estimator = estimator

    @property
    def tokens(self) -> int:
        return self._estimator.estimate(self.text)

    @property
    def units(self) -> int:
        return units(self.text)


def build(
    state: State,
    *,
    tokens: int,
    characters: int,
    index: Index | None = None,
    commands: Sequence[tuple[str, str, str]] = (),
    notes: Sequence[str] = (),
    summary: str | None = None,
    role: str | None = None,
    recall: str = "holdfast recall",
    session: str = "",
    compacted: bool = True,
) -> Brief:
    """The best brief of this state that stays within `tokens` and `characters`.

    Without an index only the names that the state itself knows can be told. `commands` are name,
    text and file of what active slash commands ask to be kept, `notes` what people noted down.
    """
    estimator = Estimator.for_model(state["usage"]["model"])
    weigh = roles.weights(role)
    everything = [*items(state), *words.in_force(state, commands), *words.noted(notes)]
    for item in everything:
        item.value *= weigh.get(item.section, 1.0)
    told = Summary(summary) if summary else None
    if told:
        # Where there is hardly room for what was asked and forbidden, that comes first.
        ample = tokens > SCARCE
        everything += disagreement.disagreements(state, notes, told, always=ample)
    everything.sort(key=lambda item: ORDER[item.section])
    said = [item for item in everything if told and told.says(item)]
    known = {id(item) for item in said}
    room = Room(tokens, min(characters, int(LOOSEST * tokens)), estimator.cost)
    opening, closing = frame.fitting(state, recall, room, compacted=compacted)
    if not closing:
        # Not even a pointer to where everything can be looked up has room.
        return Brief("", "", shown=[], left_out=everything, said=[], estimator=estimator)
    wanted = [
        item
        for item in everything
        if id(item) not in known and not frame.says(opening, item, state)
    ]
    choice = names.ranked(state, index or names.of_state(state), told)
    share = _share(room.tokens, told is not None) * weigh.get("names", 1.0)
    shown, named, lines = _fill(state, wanted, choice, room, share)
    body = _body(opening, shown, lines, closing)
    ident = f"{zlib.crc32((session + body).encode('utf-8', 'replace')):08x}"
    chosen = {id(item) for item, _ in shown}
    return Brief(
        frame.title(ident) + body,
        ident,
        shown=[item for item, _ in shown],
        left_out=[item for item in wanted if id(item) not in chosen],
        said=said,
        named=named,
        estimator=estimator,
    )


def _fill(
    state: State, wanted: list[Item], choice: list[Name], room: Room, share: float
) -> tuple[list[tuple[Item, str]], Sequence[Name], list[str]]:
    """What is said, then names in the room kept for them; what they leave goes back."""
    kept = room.tokens * share if choice else 0.0
    for_words = room.part(room.tokens - kept)
    shown = pack(wanted, for_words, HEADINGS.__getitem__)
    floors = [item for item in wanted if item.floor]
    if sum(item.floor for item, _ in shown) < len(floors):
        # What must be told, in few words, may take of the names' room; nothing else may.
        kept = min(kept, room.tokens * LEAST_SHARE)
        for_words = room.part(room.tokens - kept)
        shown = pack(floors, for_words, HEADINGS.__getitem__, shortest=True)
    left = for_words.part(for_words.tokens + kept)
    named, lines = _most_names(state, choice, left)
    if len(named) == len(choice) and len(shown) < len(wanted):
        text = "\n".join(lines)
        shown = pack(wanted, room.without(text), HEADINGS.__getitem__)
    return shown, named, lines


def _share(tokens: float, beside_summary: bool) -> float:
    """The part of the room that is kept for names: the more room, the less they need of it."""
    spare = min(1.0, max(0.0, (tokens - SCARCE) / SCARCE))
    most, least = BESIDE_SUMMARY if beside_summary else ALONE
    return most - spare * (most - least)


def _most_names(state: State, choice: list[Name], room: Room) -> tuple[Sequence[Name], list[str]]:
    """As many names as there is room for, the likeliest first."""

    def fits(count: int) -> bool:
        return room.holds("\n".join(named_lines(state, choice[:count])))

    least, most = 0, len(choice)
    while least < most:
        middle = (least + most + 1) // 2
        least, most = (middle, most) if fits(middle) else (least, middle - 1)
    return choice[:least], named_lines(state, choice[:least])


def named_lines(state: State, chosen: Sequence[Name]) -> list[str]:
    """The sections that tell names."""
    if not chosen:
        return []
    layout = Layout(state, chosen)
    lines: list[str] = []
    part: Callable[[Layout], list[str]]
    for heading, part in NAMED:
        found = part(layout)
        lines += [heading, *found] if found else []
    return lines


def _body(opening: str, shown: list[tuple[Item, str]], lines: list[str], closing: str) -> str:
    told = ["", "", opening] if opening else [""]
    section = ""
    for item, form in shown:
        if item.section != section:
            section = item.section
            told.append(HEADINGS[section])
        told.append(form)
    return "\n".join([*told, *lines, "", closing, ""])
