"""Parses, repairs and checks a model's reply before it becomes a checkpoint."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from holdfast.conversations.checkpoint import ALIASES, LIST_NAMES, Checkpoint, NotACheckpoint
from holdfast.conversations.item_matching import (
    FAILED_PREFIX,
    FOUND_PREFIX,
    GIVEN_UP_PREFIX,
    GOAL_PREFIX,
    REQUEST_PREFIX,
    WORKED_PREFIX,
    is_mentioned,
    is_same_decision,
    item_key,
)
from holdfast.conversations.summarizers import Reply, Work
from holdfast.conversations.summarizers.checkpoint_lists import CheckpointLists
from holdfast.conversations.summarizers.rules import summarize

MAX_OBJECTS = 20


def validate_reply(
    reply: Reply, work: Work, count: Callable[[str], int], before: int
) -> Checkpoint:
    """Return the checkpoint in a reply, with everything that it must not leave out.

    The caller shortens its history. Raises `NotACheckpoint` if there is none, or if even without
    that history it is not smaller than `before` tokens; the message is part of the prompt of the
    next try.
    """
    parsed = parse_checkpoint(reply.content)
    checkpoint = _restore_required_items(parsed, work).tidy()
    if not checkpoint:
        raise NotACheckpoint("all of its lists are empty")
    if count(checkpoint.shorten(work.tokens, work.tokens, count)[0].render()) >= before:
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
    """Add the goal, constraints, open items, blockers and decisions that the model left out.

    Constraints that only the model has are dropped unless the user said them. What failed or was
    given up is removed from the completed items.
    """
    by_rules = summarize(work)
    known = {item_key(item) for item in by_rules.constraints}
    own = [
        item
        for item in parsed.constraints
        if item_key(item) not in known and _is_said_by_user(item, work)
    ]
    parsed = _correct_completed(parsed, by_rules)
    decisions = [
        item
        for item in by_rules.decisions
        if not item.startswith((FOUND_PREFIX, WORKED_PREFIX))
        and not any(is_same_decision(item, other) for other in parsed.decisions)
    ]
    restored = replace(
        parsed,
        constraints=(*by_rules.constraints, *own),
        in_progress=(*_find_missing(by_rules.in_progress, parsed), *parsed.in_progress),
        pending=(*_find_missing(by_rules.pending, parsed), *parsed.pending),
        blockers=(*_find_missing(by_rules.blockers, parsed), *parsed.blockers),
        decisions=(*decisions, *parsed.decisions),
    )
    return _restore_goal(restored, by_rules)


def _correct_completed(parsed: Checkpoint, by_rules: Checkpoint) -> Checkpoint:
    """Move completed items that failed or were given up to the lists where they belong."""
    not_done = [
        item
        for item in (*by_rules.pending, *by_rules.decisions)
        if item.startswith((FAILED_PREFIX, GIVEN_UP_PREFIX))
    ]
    lists = CheckpointLists(replace(parsed, completed=()))
    for item in parsed.completed:
        if not any(is_mentioned(other, item) for other in not_done):
            lists.add("completed", item)
    return lists.to_checkpoint()


def _restore_goal(checkpoint: Checkpoint, by_rules: Checkpoint) -> Checkpoint:
    """Put the goal, as the user said it, into the list where the reply has it, or the rules."""
    goal = CheckpointLists(by_rules).goal
    if not goal:
        return checkpoint
    lists = CheckpointLists(checkpoint)
    lists.set_goal("", "")
    mentions = (
        name for name in ("completed", "in_progress")
        if any(is_mentioned(goal, item) for item in lists.items[name])
    )  # fmt: skip
    by_rules_list = "completed" if goal in by_rules.completed else "in_progress"
    lists.set_goal(next(mentions, by_rules_list), goal)
    return lists.to_checkpoint()


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
        if not item.startswith((REQUEST_PREFIX, GOAL_PREFIX))
        and not any(is_mentioned(item, other) for other in mentioned)
    ]
