"""The files of a session by what became of them, net of everything that undid it."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.state.model import State


class Artifacts(NamedTuple):
    created: frozenset[str]
    """Not there before the session, and there now."""
    modified: frozenset[str]
    """There before, and changed."""
    deleted: frozenset[str]
    """There before, and gone."""
    read: frozenset[str]
    unknown: frozenset[str]
    """Edited, perhaps: the outcome was never written down."""


def artifacts(state: State) -> Artifacts:
    trails = state["files"].items()
    created = frozenset(path for path, trail in trails if trail.get("created"))
    deleted = frozenset(path for path, trail in trails if trail.get("deleted"))
    edited = frozenset(path for path, trail in trails if trail.get("edits"))
    read = frozenset(path for path, trail in trails if trail.get("reads"))
    unknown = frozenset(path for path, trail in trails if trail.get("unknown"))
    return Artifacts(created, edited - created - deleted, deleted, read - deleted, unknown)
