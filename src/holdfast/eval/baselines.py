"""Simple texts that a brief is compared with, each under the same budget."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log

from holdfast.eval.budget import TokenBudget
from holdfast.eval.cuts import Cut
from holdfast.eval.entities import Entity
from holdfast.eval.references import References
from holdfast.eval.session import Piece, Session

MAX_ACTION_CHARS = 300
MAX_ACTIONS = 2000
# More than any budget holds.
MAX_FULL_TEXT_CHARS = 400_000
TARGET_FIELDS = ("file_path", "notebook_path", "command", "pattern", "path", "url", "description")
# The weights of names were set by hand.
KIND_WEIGHTS = {"P": 3.0, "C": 1.5, "U": 1.0, "I": 1.0}
SOURCE_WEIGHTS = {"call": 3.0, "prompt": 2.0, "reply": 2.0, "note": 1.0, "result": 1.0}
HALF_LIFE_PIECES = 60  # in pieces of the conversation


@dataclass(frozen=True)
class CutContext:
    """The session before a cut, and what is needed after it. Baselines see only the former."""

    session: Session
    cut: Cut
    references: References

    @cached_property
    def pieces(self) -> list[Piece]:
        return list(self.session.before(self.cut.line))

    @cached_property
    def full_text(self) -> str:
        """The latest messages, calls and results."""
        kept: list[str] = []
        room = MAX_FULL_TEXT_CHARS
        for piece in reversed(self.pieces):
            kept.append(_render_piece(piece, results=True))
            room -= len(piece.text)
            if room < 0:
                break
        return "\n".join(kept[::-1])

    @cached_property
    def actions(self) -> list[str]:
        """Messages and calls, without results."""
        return [
            _render_piece(piece, results=False) for piece in self.pieces if piece.kind != "result"
        ]

    @cached_property
    def ranked_names(self) -> list[Entity]:
        """All names, ranked by kind, source, age and number of mentions."""
        value: dict[Entity, float] = defaultdict(float)
        times: dict[Entity, int] = defaultdict(int)
        last = len(self.pieces)
        for number, piece in enumerate(self.pieces):
            recency = 1 / (1 + (last - number) / HALF_LIFE_PIECES)
            for entity in piece.names:
                source = _find_source(piece, entity)
                value[entity] = max(value[entity], SOURCE_WEIGHTS[source] * recency)
                times[entity] += 1
        return sorted(
            value, key=lambda one: (-value[one] * KIND_WEIGHTS[one[0]] * (1 + log(times[one])), one)
        )


def _find_source(piece: Piece, entity: Entity) -> str:
    """Return where a name comes from; the text of a call that is not its target is a result."""
    if entity in piece.used:
        return "call"
    return "result" if piece.kind == "call" else piece.kind


def _render_piece(piece: Piece, *, results: bool) -> str:
    if piece.kind == "call":
        return f"{piece.tool}: {piece.text}" if results else _render_action(piece)
    speaker = {"prompt": "User", "note": "User", "reply": "Assistant"}.get(piece.kind, "Result")
    return f"{speaker}: {piece.text}"


def _render_action(piece: Piece) -> str:
    """Return a call in one line: the tool and its target."""
    targets = [
        value for name in TARGET_FIELDS if isinstance(value := piece.arguments.get(name), str)
    ]
    return f"{piece.tool}: {' '.join(' '.join(targets).split())[:MAX_ACTION_CHARS]}"


def raw_tail(context: CutContext, budget: TokenBudget) -> str:
    """Return the end of the conversation with calls and results."""
    return budget.take_end(context.full_text)


def actions_tail(context: CutContext, budget: TokenBudget) -> str:
    """Return the end of the conversation with calls, without results."""
    return budget.take_end("\n".join(context.actions[-MAX_ACTIONS:]))


def name_dump(context: CutContext, budget: TokenBudget) -> str:
    """Return names from tool inputs, from the conversation and from tool results."""
    return budget.fill(context.ranked_names, render_list)


def render_list(names: Sequence[Entity]) -> str:
    return "\n".join(name for _, name in names)


Baseline = Callable[[CutContext, TokenBudget], str]
BASELINES: dict[str, Baseline] = {
    "raw tail": raw_tail,
    "actions tail": actions_tail,
    "name dump": name_dump,
}
