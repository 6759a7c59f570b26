"""What a model answered is not a checkpoint until it has been read, mended and checked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from holdfast.session.checkpoint import ALIASES, NAMES, Checkpoint, NotACheckpoint, key
from holdfast.session.summarizers import Reply, Work
from holdfast.session.summarizers.rules import ASKED, alike, summarize

MOST_OBJECTS = 20


def reviewed(reply: Reply, work: Work, count: Callable[[str], int], before: int) -> Checkpoint:
    """The checkpoint in a reply, with every constraint and open item, smaller than what it is of.

    Raises `NotACheckpoint` with what is wrong, which the next try is told.
    """
    found = read(reply.content)
    made = _with_what_must_stay(found, work).tidy().within(work.tokens, count)
    if not made:
        raise NotACheckpoint("all of its lists are empty")
    if count(made.render()) >= before:
        raise NotACheckpoint("it is not shorter than what it summarises")
    return made


def read(content: Checkpoint | dict[str, Any] | str) -> Checkpoint:
    """A checkpoint in whatever form: itself, a mapping, or JSON with prose around it."""
    if isinstance(content, Checkpoint):
        return content
    if isinstance(content, dict):
        return Checkpoint.parse(content)
    if not content.strip():
        raise NotACheckpoint("the reply is empty")
    problem: NotACheckpoint | None = None
    for value in objects(content):
        try:
            return Checkpoint.parse(value)
        except NotACheckpoint as wrong:
            problem = problem or wrong
    if problem is None and (whole := mended(content)):
        return read(whole)
    raise problem or NotACheckpoint("the reply holds no JSON object")


def objects(text: str) -> Iterator[Any]:
    """The JSON objects that stand in a text, those that look like a checkpoint first."""
    decoder = json.JSONDecoder()
    found: list[Any] = []
    at = text.find("{")
    while at >= 0 and len(found) < MOST_OBJECTS:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            found.append(value)
        at = text.find("{", end)
    known = NAMES | ALIASES.keys()
    yield from sorted(found, key=lambda value: -len(known & value.keys()))


def mended(text: str) -> str:
    """An object that was cut off, up to its last whole item and with its brackets closed."""
    start = text.find("{")
    stack: list[str] = []
    whole, quoted, escaped = "", False, False
    for at in range(max(start, 0), len(text)):
        sign = text[at]
        if quoted:
            quoted = escaped or sign != '"'
            escaped = sign == "\\" and not escaped
        elif sign == '"':
            quoted = True
        elif sign in "{[":
            stack.append("}" if sign == "{" else "]")
        elif sign in "}]" and stack:
            stack.pop()
        is_item = sign == '"' and not quoted and stack[-1:] == ["]"]
        if stack and (is_item or (sign in "}]" and not quoted)):
            whole = text[start : at + 1] + "".join(reversed(stack))
    return whole


def _with_what_must_stay(found: Checkpoint, work: Work) -> Checkpoint:
    """Rules find what binds and what is open; a model may say it better, but not leave it out."""
    floor = summarize(work)
    held = {key(item) for item in floor.constraints}
    own = [item for item in found.constraints if key(item) not in held and _is_users(item, work)]
    return replace(
        found,
        constraints=(*floor.constraints, *own),
        in_progress=(*_forgotten(floor.in_progress, found), *found.in_progress),
        pending=(*_forgotten(floor.pending, found), *found.pending),
    )


def _is_users(item: str, work: Work) -> bool:
    """Whether the user said so: a model, or a page that it read, cannot bind anybody."""
    wanted = key(item)
    said = (key(m.text) for m in work.messages if m.role == "user")
    return bool(wanted) and any(wanted in words for words in said)


def _forgotten(items: Iterable[str], found: Checkpoint) -> list[str]:
    """What is open and mentioned nowhere in the reply: nobody said that it is done."""
    told = (*found.completed, *found.in_progress, *found.pending, *found.blockers)
    return [
        item
        for item in items
        if not item.startswith(ASKED)
        and not any(alike(item, other) or key(item) in key(other) for other in told)
    ]
