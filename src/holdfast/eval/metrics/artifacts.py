"""M3: are the files that were created, modified and deleted all named, or counted exactly?"""

from __future__ import annotations

import re

from holdfast.eval.artifacts import Trail
from holdfast.eval.matching import Said

SETS = {
    "created": r"creat\w*|new|added|written",
    "modified": r"modif\w*|edit\w*|chang\w*|updat\w*",
    "deleted": r"delet\w*|remov\w*",
}


def artifacts(said: Said, trail: Trail) -> dict[str, float]:
    """`artifacts_complete` is 1 if nothing of the three sets is left unsaid."""
    found: dict[str, float] = {}
    complete, named, whole = True, 0, 0
    for name, words in SETS.items():
        files = getattr(trail, name)
        there = sum(said.names_file(_key(path, said)) for path in files)
        named, whole = named + there, whole + len(files)
        if files:
            exact = there == len(files) or counted(said.text, words, there, len(files))
            found[f"artifacts_{name}"] = float(exact)
            complete = complete and exact
    if whole:
        found |= {"artifacts_complete": float(complete), "artifacts_named": named / whole}
    return found


def counted(text: str, words: str, named: int, size: int) -> bool:
    """`14 modified`, `modified: 14`, `Modified files (14)`, or as many `more` as are not named."""
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


def _key(path: str, said: Said) -> str:
    return said.paths.normal(path.replace("\\", "/"))
