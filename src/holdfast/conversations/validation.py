"""Parses, repairs and checks a model's reply before it becomes a checkpoint."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from holdfast.conversations.checkpoint import (
    ALIASES,
    LIST_NAMES,
    Checkpoint,
    NotACheckpoint,
    item_key,
)
from holdfast.conversations.summarizers import Reply, Work
from holdfast.conversations.summarizers.rules import REQUEST_PREFIX, is_similar, summarize

MAX_OBJECTS = 20


def validate_reply(
    reply: Reply, work: Work, count: Callable[[str], int], before: int
) -> Checkpoint:
    """Return the checkpoint in a reply, with the constraints and open items that it left out.

    Raises `NotACheckpoint` if there is none, or if it is not smaller than `before` tokens; the
    message is part of the prompt of the next try.
    """
    parsed = parse_checkpoint(reply.content)
    checkpoint = _restore_required_items(parsed, work).tidy().within(work.tokens, count)
    if not checkpoint:
        raise NotACheckpoint("all of its lists are empty")
    if count(checkpoint.render()) >= before:
        raise NotACheckpoint("it is not shorter than what it summarises")
    return checkpoint


def parse_checkpoint(content: Checkpoint | dict[str, Any] | str) -> Checkpoint:
    """Return a checkpoint from a checkpoint, a mapping, or JSON with prose around it."""
    if isinstance(content, Checkpoint):
        return content
    if isinstance(content, dict):
        return Checkpoint.parse(content)
    if not content.strip():
        raise NotACheckpoint("the reply is empty")
    problem: NotACheckpoint | None = None
    for value in find_json_objects(content):
        try:
            return Checkpoint.parse(value)
        except NotACheckpoint as error:
            problem = problem or error
    if problem is None and (repaired := repair_json(content)):
        return parse_checkpoint(repaired)
    raise problem or NotACheckpoint("the reply holds no JSON object")


def find_json_objects(text: str) -> Iterator[Any]:
    """Yield the JSON objects in a text, those that look most like a checkpoint first."""
    decoder = json.JSONDecoder()
    objects: list[Any] = []
    start = text.find("{")
    while start >= 0 and len(objects) < MAX_OBJECTS:
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            objects.append(value)
        start = text.find("{", end)
    known = LIST_NAMES | ALIASES.keys()
    yield from sorted(objects, key=lambda value: -len(known & value.keys()))


def repair_json(text: str) -> str:
    """Return a cut-off JSON object up to its last complete item, with its brackets closed.

    Empty if it has no complete item.
    """
    start = text.find("{")
    stack: list[str] = []
    repaired, quoted, escaped = "", False, False
    for at in range(max(start, 0), len(text)):
        char = text[at]
        if quoted:
            quoted = escaped or char != '"'
            escaped = char == "\\" and not escaped
        elif char == '"':
            quoted = True
        elif char in "{[":
            stack.append("}" if char == "{" else "]")
        elif char in "}]" and stack:
            stack.pop()
        is_item = char == '"' and not quoted and stack[-1:] == ["]"]
        if stack and (is_item or (char in "}]" and not quoted)):
            repaired = text[start : at + 1] + "".join(reversed(stack))
    return repaired


def _restore_required_items(parsed: Checkpoint, work: Work) -> Checkpoint:
    """Add the constraints and open items that the rules find and the model left out.

    Constraints that only the model has are dropped unless the user said them.
    """
    by_rules = summarize(work)
    known = {item_key(item) for item in by_rules.constraints}
    own = [
        item
        for item in parsed.constraints
        if item_key(item) not in known and _is_said_by_user(item, work)
    ]
    return replace(
        parsed,
        constraints=(*by_rules.constraints, *own),
        in_progress=(*_find_missing(by_rules.in_progress, parsed), *parsed.in_progress),
        pending=(*_find_missing(by_rules.pending, parsed), *parsed.pending),
    )


def _is_said_by_user(item: str, work: Work) -> bool:
    """Return whether the user said this: what a model or a web page says is not a constraint."""
    wanted = item_key(item)
    user_texts = (item_key(m.text) for m in work.messages if m.role == "user")
    return bool(wanted) and any(wanted in text for text in user_texts)


def _find_missing(items: Iterable[str], parsed: Checkpoint) -> list[str]:
    """Return the open items that the reply mentions in no list, not even as completed."""
    mentioned = (*parsed.completed, *parsed.in_progress, *parsed.pending, *parsed.blockers)
    return [
        item
        for item in items
        if not item.startswith(REQUEST_PREFIX)
        and not any(
            is_similar(item, other) or item_key(item) in item_key(other) for other in mentioned
        )
    ]
