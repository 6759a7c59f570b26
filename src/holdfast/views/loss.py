"""What a summary lost, and what of it the brief puts back."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.brief.gap import Summary
from holdfast.brief.item import Item
from holdfast.brief.items import items
from holdfast.state.model import State


class Losses(NamedTuple):
    """Everything worth knowing, by what became of it."""

    kept: list[Item]
    """The summary says it."""
    restored: list[Item]
    """The summary lost it, the brief says it."""
    to_recall: list[Item]
    """In neither: one lookup away."""


def losses(state: State, summary: str, brief: str) -> Losses:
    told = Summary(summary)
    kept, restored, to_recall = [], [], []
    for item in items(state):
        if told.says(item):
            kept.append(item)
        elif any(form in brief for form in item.forms) or (item.quote and item.quote in brief):
            restored.append(item)
        else:
            to_recall.append(item)
    return Losses(kept, restored, to_recall)
