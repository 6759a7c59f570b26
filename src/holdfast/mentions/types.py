"""Types of the mention index. Only the type checker imports this: `typing` is slow to load."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class MentionEntry(TypedDict):
    """One mentioned name.

    `used`, `said` and `shown` are the moments of its last mention of that kind, counted in texts of
    the conversation; 0 means never. A name is used in a tool's arguments, said in a message, and
    shown in a tool's output.
    """

    kind: str
    times: int
    used: int
    said: int
    shown: int
    lines: list[int]
    """The last lines that mention it, the newest last."""
    home: str
    """`LINE FILE`: the last line that shows the identifier in a file's content, and that file; or
    `CALL,LINE FILE` if the file is named by another line, the call's."""
    gone: NotRequired[int]
    """The moment at which the file was removed."""


class MentionIndex(TypedDict):
    """All mentions of a session."""

    version: int
    moment: int
    root: str
    cwd: str
    names: dict[str, MentionEntry]
    tools: dict[str, str]
    """Calls without a result yet, as `LINE FILE`: the call's line, if it has to be cited with the
    result, or 0; and the file that the call is about."""
