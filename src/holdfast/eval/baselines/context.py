"""The input of a baseline: the session before the cut, and nothing after it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from holdfast.eval.cuts import Cut
from holdfast.eval.references import References
from holdfast.eval.session import Piece, Session

MAX_ACTION_CHARS = 300
# More than any budget holds.
MAX_FULL_TEXT_CHARS = 400_000
TARGET_FIELDS = ("file_path", "notebook_path", "command", "pattern", "path", "url", "description")


@dataclass(frozen=True)
class CutContext:
    session: Session
    cut: Cut
    references: References  # only for the oracle

    @cached_property
    def rankings(self) -> dict[str, list[Any]]:
        """Cached rankings of baselines, used again for the next budget."""
        return {}

    @cached_property
    def pieces(self) -> list[Piece]:
        return list(self.session.before(self.cut.line))

    @cached_property
    def full_text(self) -> str:
        """The latest messages, calls and results."""
        return "\n".join(
            _render_piece(piece, results=True) for piece in self._latest(MAX_FULL_TEXT_CHARS)
        )

    @cached_property
    def conversation(self) -> str:
        return "\n".join(
            _render_piece(piece, results=False) for piece in self.pieces if _is_conversation(piece)
        )

    @cached_property
    def actions(self) -> list[str]:
        """Messages and calls, without results."""
        return [
            _render_piece(piece, results=False) for piece in self.pieces if piece.kind != "result"
        ]

    def _latest(self, max_chars: int) -> list[Piece]:
        kept: list[Piece] = []
        for piece in reversed(self.pieces):
            kept.append(piece)
            max_chars -= len(piece.text)
            if max_chars < 0:
                break
        return kept[::-1]


def _is_conversation(piece: Piece) -> bool:
    return piece.kind in ("prompt", "note", "reply")


def _render_piece(piece: Piece, *, results: bool) -> str:
    if piece.kind == "call":
        return render_action(piece) if not results else f"{piece.tool}: {piece.text}"
    speaker = {"prompt": "User", "note": "User", "reply": "Assistant"}.get(piece.kind, "Result")
    return f"{speaker}: {piece.text}"


def render_action(piece: Piece) -> str:
    """Return a call in one line: the tool and its target."""
    targets = [
        value for name in TARGET_FIELDS if isinstance(value := piece.arguments.get(name), str)
    ]
    return f"{piece.tool}: {' '.join(' '.join(targets).split())[:MAX_ACTION_CHARS]}"
