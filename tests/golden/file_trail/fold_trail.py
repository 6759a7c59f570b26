"""Converts the files of a folded state into the sets of the checker."""

from __future__ import annotations

from holdfast.state.types import State
from tests.golden.file_trail import Trail


def trail_from_state(state: State) -> Trail:
    """Return the history; a file that was created and then deleted is in no set."""
    files = state["files"].items()
    created = frozenset(path for path, history in files if history.get("created"))
    deleted = frozenset(path for path, history in files if history.get("deleted"))
    edited = frozenset(path for path, history in files if history.get("edits"))
    read = frozenset(path for path, history in files if history.get("reads"))
    unknown = frozenset(path for path, history in files if history.get("unknown"))
    return Trail(
        created=created,
        modified=edited - created - deleted,
        deleted=deleted,
        read=read - deleted,
        unknown=unknown,
    )
