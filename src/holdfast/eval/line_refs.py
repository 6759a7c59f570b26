"""References that a brief makes to lines of the transcript, such as (L12) or (L12–15)."""

from __future__ import annotations

import re
from collections.abc import Iterator

REFS = re.compile(r"\(?\bL\d{1,7}(?:(?:\s*[-–,;]\s*|\s+and\s+|\s+)L?\d{1,7}\b)*\)?")
MAX_RANGE_LINES = 50
LOOKUP = re.compile(r"\brecall\b")


def find_refs(text: str) -> Iterator[int]:
    """Yield the line numbers, ranges expanded."""
    for group in REFS.finditer(text):
        for part in re.finditer(r"L?(\d{1,7})(?:\s*[-–]\s*L?(\d{1,7}))?", group[0]):
            first, last = int(part[1]), int(part[2] or part[1])
            yield from range(first, min(last, first + MAX_RANGE_LINES) + 1)


def strip_refs(text: str) -> str:
    return REFS.sub(" ", text)


def names_lookup(text: str) -> bool:
    """Whether the text names the lookup command `recall`."""
    return bool(LOOKUP.search(text))
