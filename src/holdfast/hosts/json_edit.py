"""Edits JSON text in place: only the changed part is touched.

Everything else keeps its order, indentation and spacing. Each change is a splice that can be
undone exactly.
"""

from __future__ import annotations

import json
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, NamedTuple

WHITESPACE = " \t\r\n"


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
    """The positions of a member of an object, or of an element of a list (its key is empty)."""

    key: str
    start: int
    value: int
    """Where the value begins; the same as `start` for an element."""
    end: int


def child_spans(text: str, start: int) -> tuple[list[Span], int]:
    """Return the members or elements of the container at `start`, and the position of its end.

    The caller has parsed the text before, so it is well formed.
    """
    is_object = text[start] == "{"
    children: list[Span] = []
    at = _skip_space(text, start + 1)
    while text[at] not in "}]":
        begin, key = at, ""
        if is_object:
            key, at = scanstring(text, at + 1, True)
            at = _skip_space(text, _skip_space(text, at) + 1)
        _, end = json.JSONDecoder().raw_decode(text, at)
        children.append(Span(key, begin, at, end))
        at = _skip_space(text, end)
        if text[at] == ",":
            at = _skip_space(text, at + 1)
    return children, at


def _skip_space(text: str, at: int) -> int:
    """Return the position of the next character that is not whitespace."""
    while text[at] in WHITESPACE:
        at += 1
    return at


def find_member(text: str, start: int, key: str) -> Span | None:
    """Return the member with this key, or None; the last one if the key is repeated."""
    children, _ = child_spans(text, start)
    return next((span for span in reversed(children) if span.key == key), None)


class Layout(NamedTuple):
    """The indentation of a file (None if it is all on one line) and its line ends."""

    indent: str | None
    newline: str

    @classmethod
    def of(cls, text: str) -> Layout:
        newline = "\r\n" if "\r\n" in text else "\n"
        start = text.find("{")
        children, _ = child_spans(text, start) if start >= 0 else ([], 0)
        if not children:
            return cls("  ", newline)
        lead = text[start + 1 : children[0].start]
        return cls(lead.rpartition("\n")[2] if "\n" in lead else None, newline)

    def dump(self, value: Any, depth: int) -> str:
        if self.indent is None:
            return json.dumps(value, ensure_ascii=False)
        text = json.dumps(value, ensure_ascii=False, indent=self.indent)
        return text.replace("\n", self.newline + self.indent * depth)


def insert(text: str, start: int, key: str, value: Any, depth: int, layout: Layout) -> Splice:
    """Return the splice that appends a member to the object at `start`, or, without a key, an
    element to the list there.
    """
    children, close = child_spans(text, start)
    body = layout.dump(value, depth)
    if key:
        body = f"{json.dumps(key, ensure_ascii=False)}: {body}"
    if layout.indent is None:
        lead, tail = (", " if children else ""), ""
    else:
        lead = ("," if children else "") + layout.newline + layout.indent * depth
        tail = "" if children else layout.newline + layout.indent * (depth - 1)
    if children:
        return Splice(children[-1].end, "", lead + body)
    return Splice(start + 1, text[start + 1 : close], lead + body + tail)


def remove(text: str, start: int, number: int) -> Splice:
    """Return the splice that removes one member or element together with its comma."""
    children, close = child_spans(text, start)
    if len(children) == 1:
        begin, end = start + 1, close
    elif number == 0:
        begin, end = children[0].start, children[1].start
    else:
        begin, end = children[number - 1].end, children[number].end
    return Splice(begin, text[begin:end], "")
