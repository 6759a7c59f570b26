"""What a note says: what kind it is, what it forbids, calls done, or prefers to what."""

from __future__ import annotations

KINDS = ("decision", "blocker", "unblocked", "next", "note")
_FORBIDS = ("do not ", "don't ", "never ", "must not ", "stop ")
_OVER = (", not ", " instead of ", " rather than ")
_DONE_FIRST = ("done: ", "[x] ", "finished: ", "completed: ")
_DONE_LAST = (" is done", " is finished", " is completed", " is fixed", " are done", " - done")
_ENDS = ".,;:("


class Note:
    """One note, taken apart; what it does not say is empty."""

    __slots__ = ("choice", "done", "forbids", "kind", "text")

    def __init__(self, kind: str, text: str) -> None:
        self.kind = kind
        self.text = text
        plain = text.replace("’", "'")
        self.forbids = _after(plain, _FORBIDS)
        self.done = _finished(plain)
        self.choice = _choice(plain)


def read(note: str) -> Note:
    """`decision: 5 attempts, not 8`, or any line that somebody wrote."""
    kind, colon, text = note.partition(": ")
    if colon and kind in KINDS:
        return Note(kind, text)
    return Note("note", note.strip("-*•+# \t"))


def _after(text: str, starts: tuple[str, ...]) -> str:
    for start in starts:
        if text.lower().startswith(start):
            return text[len(start) :]
    return ""


def _finished(text: str) -> str:
    for end in _DONE_LAST:
        if text.lower().rstrip(". ").endswith(end):
            return text.rstrip(". ")[: -len(end)]
    return _after(text, _DONE_FIRST)


def _choice(text: str) -> tuple[str, str]:
    """What was chosen, and over what; both empty if nothing is compared."""
    lower = text.lower()
    for sign in _OVER:
        at = lower.find(sign)
        if at > 0:
            rest = text[at + len(sign) :]
            end = min((rest.find(sign) for sign in _ENDS if sign in rest), default=len(rest))
            return text[:at], rest[:end]
    return "", ""
