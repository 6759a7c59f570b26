"""Finds items that people and agents mark themselves: `- [x] done`, `TODO: …`, `Blocked: …`."""

from __future__ import annotations

import re
from collections.abc import Iterator

CHECKBOX_PATTERN = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s*\[(.)\]\s+(.+)$")
LABEL_PATTERN = re.compile(
    r"^\s*(?:[-*+]\s+)?(?:\*\*)?(?P<label>[A-Za-z][A-Za-z' -]{1,16}?)(?:\*\*)?\s*:(?:\*\*)?"
    r"\s+(?P<text>\S.*)$"
)
# A TODO anywhere in a line: with a colon, a dash or an owner in parentheses after it. Without them
# it must be in capitals and begin a sentence or a comment.
TODO_PATTERN = re.compile(
    r"(?<![\w-])(?:(?:(?i:todo|to-do|fixme)\s*(?:\([^)\n]*\)\s*:?|:\**|\s[-–—])"
    r"|(?:^|(?<=[.!?;(#/*-] ))(?:TODO|FIXME)\b)\s*(?=\S))"
)
SENTENCE_END_PATTERN = re.compile(r"(?<=[.!?;])\s+")
LABEL_LISTS = {
    "done": "completed",
    "completed": "completed",
    "finished": "completed",
    "todo": "pending",
    "to do": "pending",
    "next": "pending",
    "next step": "pending",
    "pending": "pending",
    "remaining": "pending",
    "in progress": "in_progress",
    "working on": "in_progress",
    "wip": "in_progress",
    "blocked": "blockers",
    "blocker": "blockers",
    "unblocked": "resolved",
    "resolved": "resolved",
    "fixed": "resolved",
    "failed": "failed",
    "abandoned": "given_up",
    "given up": "given_up",
    "gave up": "given_up",
    "cancelled": "given_up",
    "canceled": "given_up",
    "dropped": "given_up",
    "skipped": "given_up",
    "reverted": "given_up",
    "won't do": "given_up",
    "decision": "decisions",
    "decided": "decisions",
    "constraint": "constraints",
}
CHECKBOX_LISTS = {
    " ": "pending",
    "x": "completed",
    "X": "completed",
    "✓": "completed",
    "✔": "completed",
    "-": "given_up",
    "✗": "failed",
    "✘": "failed",
    "!": "blockers",
}


def find_marked_items(text: str) -> Iterator[tuple[str, str]]:
    """Yield the list and the text of each marked item outside of code blocks.

    Besides the lists of a checkpoint there are `resolved`, `failed` and `given_up`.
    """
    in_code = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code:
            yield from _parse_line(line)


def _parse_line(line: str) -> Iterator[tuple[str, str]]:
    if box := CHECKBOX_PATTERN.match(line):
        yield CHECKBOX_LISTS.get(box[1], "in_progress"), box[2].strip()
        return
    # Only few lines have a marker at all.
    if (
        ":" not in line
        and "TODO" not in line
        and "FIXME" not in line
        and "odo" not in line
        and "-do" not in line
    ):
        return
    starts = [match.span() for match in TODO_PATTERN.finditer(line)]
    first = starts[0][0] if starts else len(line)
    yield from _parse_labels(line[:first].rstrip(" (#/*-"))
    for number, (_, start) in enumerate(starts):
        end = starts[number + 1][0] if number + 1 < len(starts) else len(line)
        if text := _trim(line[start:end]):
            yield from _split_at_label("pending", text)


def _parse_labels(text: str) -> Iterator[tuple[str, str]]:
    """Yield an item for each label that begins the text or one of its sentences."""
    at = 0
    for end in (*(match.start() for match in SENTENCE_END_PATTERN.finditer(text)), len(text)):
        if item := _parse_label(text[at:end]):
            yield from _split_at_label(item[0], _parse_label(text[at:])[1])  # type: ignore[index]
            return
        at = end


def _split_at_label(list_name: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield an item up to the next label that begins a sentence, and then what that label marks.

    A decision is one sentence.
    """
    for match in SENTENCE_END_PATTERN.finditer(text):
        if list_name == "decisions" or _parse_label(text[match.end() :]):
            yield list_name, text[: match.start()].strip()
            yield from _parse_labels(text[match.end() :])
            return
    yield list_name, text.strip()


def _parse_label(text: str) -> tuple[str, str] | None:
    label = LABEL_PATTERN.match(text) if ":" in text[:40] else None
    list_name = LABEL_LISTS.get(label["label"].strip().lower()) if label else None
    return (list_name, label["text"].strip()) if label and list_name else None


def _trim(text: str) -> str:
    """Return a TODO without the end of the parentheses or the list in which it stands."""
    text = text.strip().rstrip("*/,; ").rstrip()
    if text.endswith(")") and text.count(")") > text.count("("):
        text = text[:-1]
    return text.removesuffix("-->").strip(" -–—")
