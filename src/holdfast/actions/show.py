"""Lines of a transcript or of notes as they are, without secrets."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.actions import refs
from holdfast.actions.refs import Ref
from holdfast.errors import NotATranscript
from holdfast.index.database import Index
from holdfast.redact import redact


class Shown(NamedTuple):
    line: int
    text: str
    is_copy: bool
    """Whether the file is gone, so that the stored copy of its texts is shown."""
    of_team: bool = False
    """Whether it is what another machine has sent to the team."""


def show(index: Index | None, session: str, path: str, ref: Ref) -> list[Shown]:
    """The lines that a ref names; where the file has lost them, what the index kept."""
    lines = [Shown(number, text, False) for number, text in _lines(path, ref)] or [
        Shown(copy.line, copy.text, True) for copy in refs.copies(index, session, ref)
    ]
    if not lines:
        raise refs.missing(path, ref)
    return lines


def _lines(path: str, ref: Ref) -> list[tuple[int, str]]:
    if ref.in_notes:
        return [*refs.noted_lines(path, ref)]
    try:
        return [
            (number, redact(raw.decode("utf-8", "replace")))
            for number, raw in refs.raw_lines(path, ref)
        ]
    except NotATranscript:
        return []
