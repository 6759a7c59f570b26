"""The shapes of the index of names. Hooks never import this at run time."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class Entry(TypedDict):
    """One name. The three moments are counted in pieces of the conversation; 0 is never."""

    kind: str
    times: int
    used: int
    said: int
    shown: int
    lines: list[int]
    """Where it stands, the newest last."""
    home: str
    """The line in which a file's text had it last, and that file; before it, with a comma, the
    line that names the file, if that is another one."""
    gone: NotRequired[int]
    """When it was removed, if it is a file that was."""


class Index(TypedDict):
    version: int
    moment: int
    root: str
    cwd: str
    names: dict[str, Entry]
    tools: dict[str, str]
    """Calls whose result has not been seen: the line to be cited with it or 0, and the file."""
