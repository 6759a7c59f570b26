"""Change a JSON file as a careful person would: only where something changes.

Other people's settings keep their order, indentation and spacing. Each change is a splice that
can be undone exactly.
"""

from __future__ import annotations

import json
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, NamedTuple

SPACE = " \t\r\n"


class Splice(NamedTuple):
    """At this position, `removed` became `inserted`."""

    position: int
    removed: str
    inserted: str

    def apply(self, text: str) -> str:
        return text[: self.position] + self.inserted + text[self.position + len(self.removed) :]

    def undo(self, text: str) -> str:
        return Splice(self.position, self.inserted, self.removed).apply(text)


class Span(NamedTuple):
    """A member of an object, or an element of an array (its key is empty)."""

    key: str
    start: int
    value: int
    end: int


def spans(text: str, start: int) -> tuple[list[Span], int]:
    """The members or elements of the container that opens at `start`, and where it closes.

    The text has been parsed before, so it is known to be well formed.
    """
    is_object = text[start] == "{"
    found: list[Span] = []
    at = _skip(text, start + 1)
    while text[at] not in "}]":
        begin, key = at, ""
        if is_object:
            key, at = scanstring(text, at + 1, True)
            at = _skip(text, _skip(text, at) + 1)
        _, end = json.JSONDecoder().raw_decode(text, at)
        found.append(Span(key, begin, at, end))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found, at


def _skip(text: str, at: int) -> int:
    while text[at] in SPACE:
        at += 1
    return at


def member(text: str, start: int, key: str) -> Span | None:
    """The member of that name; of several the last, as parsers have it."""
    found, _ = spans(text, start)
    return next((span for span in reversed(found) if span.key == key), None)


class Layout(NamedTuple):
    """How a file is laid out: its indentation (None if all on one line) and line ends."""

    indent: str | None
    newline: str

    @classmethod
    def of(cls, text: str) -> Layout:
        newline = "\r\n" if "\r\n" in text else "\n"
        start = text.find("{")
        found, _ = spans(text, start) if start >= 0 else ([], 0)
        if not found:
            return cls("  ", newline)
        lead = text[start + 1 : found[0].start]
        return cls(lead.rpartition("\n")[2] if "\n" in lead else None, newline)

    def dump(self, value: Any, depth: int) -> str:
        if self.indent is None:
            return json.dumps(value, ensure_ascii=False)
        text = json.dumps(value, ensure_ascii=False, indent=self.indent)
        return text.replace("\n", self.newline + self.indent * depth)


def insert(text: str, start: int, key: str, value: Any, depth: int, layout: Layout) -> Splice:
    """Add a member (or, without a key, an element) at the end of the container at `start`."""
    found, close = spans(text, start)
    body = layout.dump(value, depth)
    if key:
        body = f"{json.dumps(key, ensure_ascii=False)}: {body}"
    if layout.indent is None:
        lead, tail = (", " if found else ""), ""
    else:
        lead = ("," if found else "") + layout.newline + layout.indent * depth
        tail = "" if found else layout.newline + layout.indent * (depth - 1)
    if found:
        return Splice(found[-1].end, "", lead + body)
    return Splice(start + 1, text[start + 1 : close], lead + body + tail)


def remove(text: str, start: int, number: int) -> Splice:
    """Take out one member or element together with its comma."""
    found, close = spans(text, start)
    if len(found) == 1:
        begin, end = start + 1, close
    elif number == 0:
        begin, end = found[0].start, found[1].start
    else:
        begin, end = found[number - 1].end, found[number].end
    return Splice(begin, text[begin:end], "")
