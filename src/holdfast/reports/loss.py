"""Reports what a summary lost, and what of it the brief restores."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.brief.items import Item
from holdfast.brief.render import collect_items
from holdfast.brief.summary_overlap import SearchableSummary
from holdfast.state.types import State


class CompactionLosses(NamedTuple):
    """All items of a state, by where they are after a compaction."""

    kept: list[Item]
    """In the summary."""
    restored: list[Item]
    """Not in the summary, but in the brief."""
    to_recall: list[Item]
    """In neither; they can be looked up."""


def build_loss_report(state: State, summary: str, brief: str) -> CompactionLosses:
    """Sort the items of the state before a compaction by whether summary or brief have them."""
    searchable = SearchableSummary(summary)
    kept, restored, to_recall = [], [], []
    for item in collect_items(state, searchable):
        if searchable.covers(item):
            kept.append(item)
        elif any(form in brief for form in item.forms) or (item.quote and item.quote in brief):
            restored.append(item)
        else:
            to_recall.append(item)
    return CompactionLosses(kept, restored, to_recall)
