"""What people and agents mark themselves: `- [x] done`, `TODO: …`, `Blocked: …`."""

from __future__ import annotations

import re
from collections.abc import Iterator

BOX = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s*\[(.)\]\s+(.+)$")
LABEL = re.compile(
    r"^\s*(?:[-*+]\s+)?(?:\*\*)?(?P<label>[A-Za-z][A-Za-z -]{1,16}?)(?:\*\*)?\s*:(?:\*\*)?"
    r"\s+(?P<text>\S.*)$"
)
MEANS = {
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
BOXES = {" ": "pending", "x": "completed", "X": "completed", "✓": "completed", "✔": "completed"}


def labelled(text: str) -> Iterator[tuple[str, str]]:
    """What each marked line says it is, and its words; code between fences is not looked at."""
    fenced = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and (found := _of_line(line)):
            yield found


def _of_line(line: str) -> tuple[str, str] | None:
    if box := BOX.match(line):
        return BOXES.get(box[1], "in_progress"), box[2].strip()
    label = LABEL.match(line) if ":" in line[:40] else None
    meant = MEANS.get(label["label"].strip().lower()) if label else None
    return (meant, label["text"].strip()) if label and meant else None
