"""References that a brief makes to lines of the transcript, such as (L12) or (L12–15)."""

from __future__ import annotations

import re
from collections.abc import Iterator

GROUP = re.compile(r"\(?\bL\d{1,7}(?:(?:\s*[-–,;]\s*|\s+and\s+|\s+)L?\d{1,7}\b)*\)?")
WIDEST = 50
LOOKUP = re.compile(r"\brecall\b")


def refs(text: str) -> Iterator[int]:
    """The line numbers, ranges told in full."""
    for found in GROUP.finditer(text):
        for part in re.finditer(r"L?(\d{1,7})(?:\s*[-–]\s*L?(\d{1,7}))?", found[0]):
            first, last = int(part[1]), int(part[2] or part[1])
            yield from range(first, min(last, first + WIDEST) + 1)


def without_refs(text: str) -> str:
    return GROUP.sub(" ", text)


def names_lookup(text: str) -> bool:
    """Whether the text says how everything else can be looked up."""
    return bool(LOOKUP.search(text))
