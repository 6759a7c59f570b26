"""What a baseline may look at: the session before the cut, and nothing after it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from holdfast.eval.cuts import Cut
from holdfast.eval.references import References
from holdfast.eval.session import Piece, Session

LONGEST_ACTION = 300
TARGETS = ("file_path", "notebook_path", "command", "pattern", "path", "url", "description")


@dataclass(frozen=True)
class Material:
    session: Session
    cut: Cut
    references: References  # only for the oracle

    @cached_property
    def rankings(self) -> dict[str, list[Any]]:
        """What a baseline worked out for one budget and needs again for the next."""
        return {}

    @cached_property
    def pieces(self) -> list[Piece]:
        return list(self.session.before(self.cut.line))

    @cached_property
    def everything(self) -> str:
        """All that was said and done, results included."""
        return "\n".join(_shown(piece, results=True) for piece in self._latest(400_000))

    @cached_property
    def words(self) -> str:
        return "\n".join(_shown(piece, results=False) for piece in self.pieces if _spoken(piece))

    @cached_property
    def actions(self) -> list[str]:
        """Words and calls; the results are masked."""
        return [_shown(piece, results=False) for piece in self.pieces if piece.kind != "result"]

    def _latest(self, characters: int) -> list[Piece]:
        kept: list[Piece] = []
        for piece in reversed(self.pieces):
            kept.append(piece)
            characters -= len(piece.text)
            if characters < 0:
                break
        return kept[::-1]


def _spoken(piece: Piece) -> bool:
    return piece.kind in ("prompt", "note", "reply")


def _shown(piece: Piece, *, results: bool) -> str:
    if piece.kind == "call":
        return action(piece) if not results else f"{piece.tool}: {piece.text}"
    speaker = {"prompt": "User", "note": "User", "reply": "Assistant"}.get(piece.kind, "Result")
    return f"{speaker}: {piece.text}"


def action(piece: Piece) -> str:
    """A call in one line: the tool and what it was pointed at."""
    told = [value for name in TARGETS if isinstance(value := piece.given.get(name), str)]
    return f"{piece.tool}: {' '.join(' '.join(told).split())[:LONGEST_ACTION]}"
