"""Finds items that people and agents mark themselves: `- [x] done`, `TODO: …`, `Blocked: …`."""

from __future__ import annotations

import re
from collections.abc import Iterator

CHECKBOX_PATTERN = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s*\[(.)\]\s+(.+)$")
LABEL_PATTERN = re.compile(
    r"^\s*(?:[-*+]\s+)?(?:\*\*)?(?P<label>[A-Za-z][A-Za-z -]{1,16}?)(?:\*\*)?\s*:(?:\*\*)?"
    r"\s+(?P<text>\S.*)$"
)
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
}


def find_marked_items(text: str) -> Iterator[tuple[str, str]]:
    """Yield the list and the text of each marked line outside of code blocks."""
    in_code = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code and (item := _parse_line(line)):
            yield item


def _parse_line(line: str) -> tuple[str, str] | None:
    if box := CHECKBOX_PATTERN.match(line):
        return CHECKBOX_LISTS.get(box[1], "in_progress"), box[2].strip()
    label = LABEL_PATTERN.match(line) if ":" in line[:40] else None
    list_name = LABEL_LISTS.get(label["label"].strip().lower()) if label else None
    return (list_name, label["text"].strip()) if label and list_name else None
