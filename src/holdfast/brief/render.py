"""Write the brief: Markdown that a model reads well, within both budgets."""

from __future__ import annotations

import zlib

from holdfast.brief import disagreement, frame, names, roles, words
from holdfast.brief.fill import fill
from holdfast.brief.gap import Summary
from holdfast.brief.items import items
from holdfast.brief.pack import Room
from holdfast.brief.tokens import Estimator, units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.brief.fill import Filled
    from holdfast.brief.item import Item
    from holdfast.brief.names import Name
    from holdfast.brief.template import Template
    from holdfast.names.model import Index
    from holdfast.state.model import State

# No estimate is trusted with more characters to a token than prose has on the newest tokenizers.
LOOSEST = 3.0
# From so many tokens on a summary that says otherwise is contradicted, whatever else must go.
AMPLE = 850
# Where a kind of name is told; an identifier may stand with its file as well.
SECTION_OF = {"file": "files", "command": "commands", "identifier": "names", "link": "names"}


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
    template: Template = roles.SESSION,
    recall: str = "holdfast recall",
    session: str = "",
    scale: float = 1.0,
    compacted: bool = True,
) -> Brief:
    """The best brief of this state that stays within `tokens` and `characters`.

    Without an index only the names that the state itself knows can be told. `commands` are name,
    text and file of what active slash commands ask to be kept, `notes` what people noted down,
    `scale` what logs have shown of the model: tokens counted for each that is estimated.
    """
    estimator = Estimator.for_model(state["usage"]["model"], scale)
    told = Summary(summary) if summary else None
    # Where there is hardly room for what was asked and forbidden, that comes first.
    otherwise = (
        disagreement.disagreements(state, notes, told, always=tokens > AMPLE) if told else ()
    )
    everything = _of_template(
        template,
        [*otherwise, *items(state), *words.in_force(state, commands), *words.noted(notes)],
    )
    said = [item for item in everything if told and told.says(item)]
    known = {id(item) for item in said}
    room = Room(tokens, min(characters, int(LOOSEST * tokens)), estimator.cost)
    opening, closing = frame.fitting(
        state, template.title, recall, room, compacted=compacted, told=told
    )
    if not closing:
        # Not even a pointer to where everything can be looked up has room.
        return Brief("", "", shown=[], left_out=everything, said=[], estimator=estimator)
    wanted = [
        item
        for item in everything
        if id(item) not in known and frame.unsaid(opening, item, state, tokens)
    ]
    choice = names.ranked(state, index or names.of_state(state), told, tokens)
    choice = [name for name in choice if SECTION_OF[name.kind] in template.sections]
    filled = fill(
        state, wanted, choice, room, template=template, opening=opening, told=told,
        terse=tokens <= frame.LITTLE,
    )  # fmt: skip
    chosen = {id(item) for item, _ in filled.shown}
    left_out = [item for item in wanted if id(item) not in chosen]
    if filled.whole:
        closing = frame.closing(recall, tokens, truncated=False)
    elif filled.pointed and left_out:
        closing = frame.closing(recall, tokens, truncated=True, pointed=filled.pointed)
    body = _body(template, opening, filled, closing)
    ident = f"{zlib.crc32((session + body).encode('utf-8', 'replace')):08x}"
    return Brief(
        frame.title(template.title, ident, tokens) + body,
        ident,
        shown=[item for item, _ in filled.shown],
        left_out=left_out,
        said=said,
        named=filled.named,
        estimator=estimator,
    )


def _of_template(template: Template, found: list[Item]) -> list[Item]:
    """What has a section, in the order of the sections, weighed as the role weighs it."""
    place = {key: number for number, key in enumerate(template.sections)}
    kept = [item for item in found if item.section in place]
    for item in kept:
        item.value *= template.weights.get(item.section, 1.0)
    return sorted(kept, key=lambda item: place[item.section])


def _body(template: Template, opening: str, filled: Filled, closing: str) -> str:
    told = ["", opening] if opening else [""]
    for section in template.sections:
        here = [form for item, form in filled.shown if item.section == section]
        here += filled.lines.get(section, ())
        told += [template.heading(section), *here] if here else []
    return "\n".join([*told, closing, ""])
