"""What rules share about text: how it is kept, cut into sentences, and matched by words."""

from __future__ import annotations

from holdfast.redact import redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PUNCTUATION = str.maketrans(dict.fromkeys('\t\n\r.,;:!?()[]{}"`*_—–/', " ") | {"’": "'"})
_BULLETS = "-*•+> \t#"


def plain(value: Any) -> str:
    """Foreign JSON as text: what is neither text nor a number says nothing."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) else ""


def keep(text: str, most: int) -> str:
    """Text as it may stand in the state: without secrets, and no longer than `most`."""
    return clip(redact(text), most)


def clip(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def one_line(text: str, most: int) -> str:
    return clip(" ".join(text.split()), most)


def sentences(text: str) -> list[str]:
    """Sentences of prose, verbatim; what stands between code fences is not prose."""
    found: list[str] = []
    fenced = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            found.extend(_sentences_of(line.strip().lstrip(_BULLETS).strip()))
    return found


def _sentences_of(line: str) -> list[str]:
    if not any(end in line for end in (". ", "! ", "? ", "。", "！", "？")):
        return [line] if line else []
    found: list[str] = []
    start = 0
    for end, sign in enumerate(line):
        if sign in ".!?。！？" and (sign in "。！？" or line[end + 1 : end + 2].isspace()):
            found.append(line[start : end + 1].strip())
            start = end + 1
    found.append(line[start:].strip())
    return [sentence for sentence in found if sentence]


def words(text: str) -> str:
    """Lower-case words between single spaces, so that ` never ` finds the word."""
    return f" {' '.join(text.lower().translate(_PUNCTUATION).split())} "


def has_any(padded: str, cues: tuple[str, ...]) -> bool:
    return any(cue in padded for cue in cues)


def cues(*phrases: str) -> tuple[str, ...]:
    return tuple(f" {phrase} " for phrase in phrases)
