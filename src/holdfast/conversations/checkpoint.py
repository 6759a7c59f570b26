"""A checkpoint replaces compacted messages: six bounded lists without repetitions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from holdfast.conversations.item_matching import (
    FOUND_PREFIX,
    GOAL_PREFIX,
    WORKED_PREFIX,
    is_same_decision,
    item_key,
)
from holdfast.errors import HoldfastError
from holdfast.redaction import redact
from holdfast.state.text import clip

MAX_ITEM_CHARS = 400
MAX_ITEMS_PER_LIST = 1000
# Other list names that models and older checkpoints use.
ALIASES = {
    "inProgress": "in_progress",
    "in-progress": "in_progress",
    "in progress": "in_progress",
    "done": "completed",
    "todo": "pending",
    "next": "pending",
    "next_steps": "pending",
    "nextSteps": "pending",
    "blocked": "blockers",
    "key_decisions": "decisions",
    "keyDecisions": "decisions",
    "rules": "constraints",
}
TITLES = {
    "constraints": "What the user asked to be observed; it still holds",
    "decisions": "Decided and found out",
    "blockers": "What holds the work up",
    "in_progress": "In progress",
    "pending": "Still to do",
    "completed": "Done",
}
INTRODUCTION = (
    "The earlier part of this conversation is summarised here. It is a record of what happened, "
    "not a new request."
)
# The order in which lists are trimmed when a checkpoint is too long; constraints never are.
TRIM_ORDER = ("completed", "decisions", "blockers", "pending", "in_progress")
# The first item of a list that was shortened says how many items it had before.
LEFT_OUT_PATTERN = re.compile(
    r"^(\d+) earlier items? left out; the compacted messages have (?:it|them)$"
)


class NotACheckpoint(HoldfastError):
    """That is not a checkpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """Six lists of items, each in the order in which the items came up."""

    completed: tuple[str, ...] = ()
    in_progress: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()

    @classmethod
    def parse(cls, value: Any) -> Checkpoint:
        """Return a checkpoint from a mapping, also with other list names.

        Raises `NotACheckpoint` for anything else.
        """
        if not isinstance(value, Mapping):
            raise NotACheckpoint(f"an object with six lists is needed, not {type(value).__name__}")
        lists = {ALIASES.get(str(key), str(key)): part for key, part in value.items()}
        if not LIST_NAMES & lists.keys():
            raise NotACheckpoint(f"none of {', '.join(sorted(LIST_NAMES))} is there")
        return cls(**{name: _parse_items(name, lists.get(name)) for name in LIST_NAMES})

    def as_dict(self) -> dict[str, list[str]]:
        return {field.name: list(getattr(self, field.name)) for field in fields(self)}

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in LIST_NAMES)

    def tidy(self) -> Checkpoint:
        """Return the checkpoint with each item once, in the list of its furthest progress.

        A completed item is neither open nor a blocker.
        """
        seen: set[str] = set()
        kept: dict[str, tuple[str, ...]] = {}
        for name in ("constraints", "decisions", "completed", "in_progress", "pending", "blockers"):
            own = set() if name in ("constraints", "decisions") else seen
            kept[name] = _drop_repeated(getattr(self, name), own)
        kept["decisions"] = merge_decisions(kept["decisions"])
        return Checkpoint(**kept)

    def within(self, tokens: int, count: Callable[[str], int]) -> Checkpoint:
        """Return the checkpoint trimmed to this many tokens.

        Completed items go before open ones, and in each list the oldest go first.
        """
        checkpoint = self
        for name in TRIM_ORDER:
            # The newest item of each list stays as long as others can be removed.
            checkpoint = _trim_list(checkpoint, name, 1, tokens, count)
        for name in TRIM_ORDER:
            checkpoint = _trim_list(checkpoint, name, 0, tokens, count)
        return checkpoint

    def shorten(
        self, tokens: int, max_tokens: int, count: Callable[[str], int]
    ) -> tuple[Checkpoint, int]:
        """Return the checkpoint without its oldest history, and how many items were left out.

        Completed items and findings are left out above `tokens`, decisions only above
        `max_tokens`. The goal, open items, blockers and constraints always stay, so the result may
        be longer. A list that was shortened says so in its first item.
        """
        checkpoint, left_out = self, 0
        for name, limit, is_history in (
            ("completed", tokens, lambda item: not item.startswith(GOAL_PREFIX)),
            ("decisions", tokens, lambda item: item.startswith((FOUND_PREFIX, WORKED_PREFIX))),
            ("decisions", max_tokens, lambda item: True),
        ):
            checkpoint, dropped = _leave_out(checkpoint, name, is_history, limit, count)
            left_out += dropped
        return checkpoint, left_out

    def render(self) -> str:
        """Return the text for a request; empty for an empty checkpoint."""
        if not self:
            return ""
        parts = [INTRODUCTION]
        for name, title in TITLES.items():
            if items := getattr(self, name):
                parts += ["", f"## {title}", *(f"- {item}" for item in items)]
        return "\n".join(parts)


LIST_NAMES = {field.name for field in fields(Checkpoint)}


def checkpoint_schema() -> dict[str, Any]:
    """Return the JSON schema of a checkpoint, for models with structured output."""
    descriptions = {
        "completed": "what was finished",
        "in_progress": "what is being worked on",
        "pending": "what waits to be done",
        "blockers": "what holds the work up and is not resolved",
        "decisions": "choices made, with their reason",
        "constraints": "rules of the user, word for word; none is ever dropped",
    }
    lists = {
        name: {"type": "array", "items": {"type": "string"}, "description": text}
        for name, text in descriptions.items()
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Checkpoint",
        "type": "object",
        "properties": lists,
        "required": list(lists),
        "additionalProperties": False,
    }


def _parse_items(name: str, value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list | tuple):
        raise NotACheckpoint(f"{name} is a list of texts, not {type(value).__name__}")
    texts = [text for part in value if (text := _parse_item(name, part))]
    return tuple(texts[-MAX_ITEMS_PER_LIST:])


def _parse_item(name: str, part: Any) -> str:
    """Return the text of an item; models also give objects that have it under some key."""
    if isinstance(part, Mapping):
        part = next((text for text in part.values() if isinstance(text, str)), "")
    if not isinstance(part, str):
        raise NotACheckpoint(f"{name} holds {type(part).__name__}, not text")
    return clip(redact(" ".join(part.split())), MAX_ITEM_CHARS)


def merge_decisions(items: Iterable[str]) -> tuple[str, ...]:
    """Return the decisions, each once, also if it was said again in other words.

    Of two wordings the longer one stays, in the place of the first.
    """
    merged: list[str] = []
    for item in items:
        same = next((at for at, known in enumerate(merged) if is_same_decision(item, known)), None)
        if same is None:
            merged.append(item)
        elif len(item_key(item)) > len(item_key(merged[same])):
            merged[same] = item
    return tuple(merged)


def _drop_repeated(items: Iterable[str], seen: set[str]) -> tuple[str, ...]:
    kept = []
    for item in items:
        if (key := item_key(item)) and key not in seen:
            seen.add(key)
            kept.append(item)
    return tuple(kept)


def _trim_list(
    checkpoint: Checkpoint, name: str, min_items: int, tokens: int, count: Callable[[str], int]
) -> Checkpoint:
    """Remove as many of the oldest items of one list as needed, but keep `min_items`."""
    items: tuple[str, ...] = getattr(checkpoint, name)
    if len(items) <= min_items or count(checkpoint.render()) <= tokens:
        return checkpoint
    low, high = 1, len(items) - min_items
    while low < high:
        middle = (low + high) // 2
        shorter = replace(checkpoint, **{name: items[middle:]})
        if count(shorter.render()) <= tokens:
            high = middle
        else:
            low = middle + 1
    return replace(checkpoint, **{name: items[low:]})


def _leave_out(
    checkpoint: Checkpoint,
    name: str,
    is_history: Callable[[str], bool],
    tokens: int,
    count: Callable[[str], int],
) -> tuple[Checkpoint, int]:
    """Leave out as many of the oldest items of one list as needed, except its newest.

    Returns the shorter checkpoint and the number of items.
    """
    items = [item for item in getattr(checkpoint, name) if not LEFT_OUT_PATTERN.match(item)]
    before = sum(
        int(match[1])
        for item in getattr(checkpoint, name)
        if (match := LEFT_OUT_PATTERN.match(item))
    )
    history = [at for at, item in enumerate(items) if is_history(item)][:-1]

    def without(number: int) -> Checkpoint:
        gone = set(history[:number])
        kept = [item for at, item in enumerate(items) if at not in gone]
        return replace(checkpoint, **{name: (*_render_left_out(before + number), *kept)})

    if not history or count(checkpoint.render()) <= tokens:
        return checkpoint, 0
    low, high = 1, len(history)
    while low < high:
        middle = (low + high) // 2
        if count(without(middle).render()) <= tokens:
            high = middle
        else:
            low = middle + 1
    return without(low), low


def _render_left_out(number: int) -> tuple[str, ...]:
    if not number:
        return ()
    what, them = ("item", "it") if number == 1 else ("items", "them")
    return (f"{number} earlier {what} left out; the compacted messages have {them}",)
