"""Reports what a summary kept and lost, and what of it the brief restores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from holdfast.brief.conflicts import MAX_QUOTE_CHARS, find_conflicts
from holdfast.brief.items import Item
from holdfast.brief.render import collect_items
from holdfast.brief.summary_overlap import SearchableSummary
from holdfast.redaction import redact
from holdfast.state.quoting import quote
from holdfast.state.types import State

# How a brief writes that a note contradicts the summary; notes are not part of the state.
NOTE_CONFLICT = "(notes.md); the summary "


class CompactionLosses(NamedTuple):
    """All items of a state, by where they are after a compaction."""

    kept: list[Item]
    """In the summary."""
    restored: list[Item]
    """Not in the summary, but in the brief."""
    differs: list[Item]
    """The summary says something else."""
    to_recall: list[Item]
    """In neither; they can be looked up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownItem:
    """One thing that was known before a compaction, and what became of it."""

    group: str
    """kept, restored, differs or to_recall."""
    kind: str
    line: int
    """The transcript line that it comes from; 0 for a note."""
    text: str
    summary_says: str
    """The line of the summary that says it, or the most similar one; empty if there is none."""
    brief_says: str
    """The line of the brief that says it; empty if there is none."""


def build_loss_report(state: State, summary: str, brief: str) -> CompactionLosses:
    """Sort the items of the state before a compaction by whether summary or brief have them."""
    searchable = SearchableSummary(summary)
    losses = CompactionLosses([], [], [*_find_differences(state, searchable, brief)], [])
    for item in collect_items(state, searchable):
        if any(_is_about(conflict, item) for conflict in losses.differs):
            continue
        if searchable.covers(item):
            losses.kept.append(item)
        elif _find_in_brief(item, brief):
            losses.restored.append(item)
        else:
            losses.to_recall.append(item)
    return losses


def _find_differences(state: State, summary: SearchableSummary, brief: str) -> list[Item]:
    """The conflicts of the state with the summary, and those of notes that the brief names."""
    noted = [line for line in brief.splitlines() if NOTE_CONFLICT in line]
    return [
        *find_conflicts(state, (), summary),
        *(Item("disagree", "disagreement", 0.0, 0, (line,)) for line in noted),
    ]


def _is_about(conflict: Item, item: Item) -> bool:
    """Whether a conflict quotes this item: then the item is listed as the conflict only."""
    is_quoted = bool(item.quote) and quote(item.quote, MAX_QUOTE_CHARS) in conflict.forms[0]
    return is_quoted and item.line == conflict.line


def _find_in_brief(item: Item, brief: str) -> str:
    """Return the wording of an item that a brief has, or ""."""
    return next((form for form in (*item.forms, item.quote) if form and form in brief), "")


def describe_items(losses: CompactionLosses, summary: str, brief: str) -> list[KnownItem]:
    """Return every item with what summary and brief say of it, in the order of the log."""
    searchable = SearchableSummary(summary)
    items = [
        KnownItem(
            group=group,
            kind=item.kind,
            line=item.line,
            text=redact(item.quote or item.forms[0]).strip(),
            summary_says=searchable.find_similar_line(item.quote or " ".join(item.names)),
            brief_says=_find_in_brief(item, brief).strip(),
        )
        for group, group_items in losses._asdict().items()
        for item in group_items
    ]
    return sorted(items, key=lambda item: item.line)
