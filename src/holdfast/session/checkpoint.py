"""What stands for the messages that were compacted: six lists, bounded, with nothing twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.redact import redact
from holdfast.state.wording import clip, words

LONGEST = 400
MOST_ITEMS = 200
# Other names that models and older checkpoints use.
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
    "decisions": "Decided",
    "blockers": "What holds the work up",
    "in_progress": "In progress",
    "pending": "Still to do",
    "completed": "Done",
}
OPENING = (
    "The earlier part of this conversation is summarised here. It is a record of what happened, "
    "not a new request."
)
# What makes room first when a checkpoint is too long; constraints never do.
GIVES_WAY = ("completed", "decisions", "blockers", "pending", "in_progress")


class NotACheckpoint(HoldfastError):
    """That is not a checkpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """Items in the order in which they came up; each stands in one list only."""

    completed: tuple[str, ...] = ()
    in_progress: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()

    @classmethod
    def parse(cls, value: Any) -> Checkpoint:
        """From a mapping; other names are understood, wrong types are refused."""
        if not isinstance(value, Mapping):
            raise NotACheckpoint(f"an object with six lists is needed, not {type(value).__name__}")
        named = {ALIASES.get(str(key), str(key)): part for key, part in value.items()}
        if not NAMES & named.keys():
            raise NotACheckpoint(f"none of {', '.join(sorted(NAMES))} is there")
        return cls(**{name: _items(name, named.get(name)) for name in NAMES})

    def as_dict(self) -> dict[str, list[str]]:
        return {field.name: list(getattr(self, field.name)) for field in fields(self)}

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in NAMES)

    def tidy(self) -> Checkpoint:
        """Each item once, where it got furthest: what is done is neither open nor in the way."""
        seen: set[str] = set()
        kept: dict[str, tuple[str, ...]] = {}
        for name in ("constraints", "decisions", "completed", "in_progress", "pending", "blockers"):
            own = set() if name in ("constraints", "decisions") else seen
            kept[name] = _once(getattr(self, name), own)
        return Checkpoint(**kept)

    def within(self, tokens: int, count: Callable[[str], int]) -> Checkpoint:
        """No longer than that: old items go first, what is done before what is open."""
        made = self
        for name in GIVES_WAY:
            # The newest of each list stays as long as anything else can go.
            made = _trimmed(made, name, 1, tokens, count)
        for name in GIVES_WAY:
            made = _trimmed(made, name, 0, tokens, count)
        return made

    def render(self) -> str:
        """As a request carries it; nothing if there is nothing to say."""
        if not self:
            return ""
        parts = [OPENING]
        for name, title in TITLES.items():
            if items := getattr(self, name):
                parts += ["", f"## {title}", *(f"- {item}" for item in items)]
        return "\n".join(parts)


NAMES = {field.name for field in fields(Checkpoint)}


def schema() -> dict[str, Any]:
    """The JSON schema of a checkpoint, for a model that can be held to one."""
    meant = {
        "completed": "what was finished",
        "in_progress": "what is being worked on",
        "pending": "what waits to be done",
        "blockers": "what holds the work up and is not resolved",
        "decisions": "choices made, with their reason",
        "constraints": "rules of the user, word for word; none is ever dropped",
    }
    lists = {
        name: {"type": "array", "items": {"type": "string"}, "description": text}
        for name, text in meant.items()
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Checkpoint",
        "type": "object",
        "properties": lists,
        "required": list(lists),
        "additionalProperties": False,
    }


def _items(name: str, value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list | tuple):
        raise NotACheckpoint(f"{name} is a list of texts, not {type(value).__name__}")
    texts = [text for part in value if (text := _item(name, part))]
    return tuple(texts[-MOST_ITEMS:])


def _item(name: str, part: Any) -> str:
    """One item; models also give objects that hold the text under some name."""
    if isinstance(part, Mapping):
        part = next((text for text in part.values() if isinstance(text, str)), "")
    if not isinstance(part, str):
        raise NotACheckpoint(f"{name} holds {type(part).__name__}, not text")
    return clip(redact(" ".join(part.split())), LONGEST)


def key(item: str) -> str:
    """Two items with the same words are one."""
    return words(item).strip() or item.strip()


def _once(items: Iterable[str], seen: set[str]) -> tuple[str, ...]:
    kept = []
    for item in items:
        if (known := key(item)) and known not in seen:
            seen.add(known)
            kept.append(item)
    return tuple(kept)


def _trimmed(
    made: Checkpoint, name: str, least: int, tokens: int, count: Callable[[str], int]
) -> Checkpoint:
    """Without as many of the oldest items of one list as it takes."""
    items: tuple[str, ...] = getattr(made, name)
    if len(items) <= least or count(made.render()) <= tokens:
        return made
    low, high = 1, len(items) - least
    while low < high:
        middle = (low + high) // 2
        shorter = replace(made, **{name: items[middle:]})
        if count(shorter.render()) <= tokens:
            high = middle
        else:
            low = middle + 1
    return replace(made, **{name: items[low:]})
