"""The files of a folded state, in the sets that the checker has."""

from __future__ import annotations

from holdfast.state.types import State
from tests.golden.file_trail import Trail


def folded_trail(state: State) -> Trail:
    """The net state: a file that was created and deleted again is in none of the sets."""
    trails = state["files"].items()
    created = frozenset(path for path, trail in trails if trail.get("created"))
    deleted = frozenset(path for path, trail in trails if trail.get("deleted"))
    edited = frozenset(path for path, trail in trails if trail.get("edits"))
    read = frozenset(path for path, trail in trails if trail.get("reads"))
    unknown = frozenset(path for path, trail in trails if trail.get("unknown"))
    return Trail(
        created=created,
        modified=edited - created - deleted,
        deleted=deleted,
        read=read - deleted,
        unknown=unknown,
    )
