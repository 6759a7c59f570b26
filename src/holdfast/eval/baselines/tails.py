"""What is left if only the end of the conversation is kept, with or without its beginning."""

from __future__ import annotations

from holdfast.eval.baselines.material import Material
from holdfast.eval.budget import Budget

HEAD_SHARE = 0.25


def raw_tail(material: Material, budget: Budget) -> str:
    return budget.end_of(material.everything)


def text_tail(material: Material, budget: Budget) -> str:
    return budget.end_of(material.words)


def actions_tail(material: Material, budget: Budget) -> str:
    return budget.end_of("\n".join(material.actions[-2000:]))


def head_and_tail(material: Material, budget: Budget) -> str:
    """The first request and the last actions."""
    first = next((piece.text for piece in material.pieces if piece.kind == "prompt"), "")
    head = budget.part(budget.tokens * HEAD_SHARE).start_of(first)
    rest = budget.part(budget.tokens - budget.count(head) - 1)
    return f"{head}\n{actions_tail(material, rest)}"
