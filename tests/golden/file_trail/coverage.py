"""Checks that a text names or counts the files that a session created, modified and deleted."""

from __future__ import annotations

import re

from holdfast.eval.matching import TextMatcher
from tests.golden.file_trail import Trail

SETS = {
    "created": r"creat\w*|new|added|written",
    "modified": r"modif\w*|edit\w*|chang\w*|updat\w*",
    "deleted": r"delet\w*|remov\w*",
}
SAYS_DELETED = re.compile(r"\b(?:delet|remov|gone|no longer|renam|mov(?:ed|ing)|dropp|clean)", re.I)
QUOTE = re.compile(r"“[^”]*”")


def uncovered_sets(matcher: TextMatcher, trail: Trail) -> list[str]:
    """Return the sets of which the text neither names every file nor gives the exact number."""
    uncovered = []
    for name, words in SETS.items():
        files = getattr(trail, name)
        named = sum(matcher.names_file(matcher.paths.normalize(path)) for path in files)
        if named < len(files) and not is_counted(matcher.text, words, named, len(files)):
            uncovered.append(name)
    return uncovered


def is_counted(text: str, words: str, named: int, size: int) -> bool:
    """Find `14 modified`, `modified: 14`, `Modified files (14)`, or `3 more` for unnamed files."""
    totals = re.findall(
        rf"\b(\d+)\s+(?:files?\s+|were\s+)?(?:{words})\b|\b(?:{words})(?:\s+files?)?\W{{1,3}}(\d+)\b(?!×)",
        text,
        re.I,
    )
    more = re.findall(
        rf"\b(\d+)\s+(?:more|others?)\s+(?:files?\s+)?(?:{words})\b"
        rf"|\b(?:{words})\b[^\n]*?(?:\band|\+|…|,)\s*(\d+)\s+(?:more|others?)\b",
        text,
        re.I,
    )
    stated = {int(first or second) for first, second in totals}
    rest = {int(first or second) for first, second in more}
    return size in stated or (named < size and size - named in rest)


def stale_files(text: str, trail: Trail) -> list[str]:
    """Return deleted files that the text names without calling them deleted in line or heading."""
    # Quotes are earlier words of the user, not statements about the current state.
    lines = QUOTE.sub("“”", text).splitlines()
    stale = []
    for path in trail.deleted:
        naming = [number for number, line in enumerate(lines) if path in line]
        if naming and not any(
            SAYS_DELETED.search(line)
            for line in [*(lines[number] for number in naming), _heading(lines[: naming[0]])]
        ):
            stale.append(path)
    return stale


def _heading(lines: list[str]) -> str:
    return next((line for line in reversed(lines) if line.startswith("#")), "")
