"""Measure how much a state knows, so that a thin snapshot never replaces a rich one."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.state.types import State


def count_items(state: State) -> int:
    """Return the number of items known; 0 means that there is nothing to save or restore."""
    return sum(
        len(part)
        for part in (
            state["requests"], state["rules"], state["decisions"], state["plan"],
            state["files"], state["checks"], state["commits"], state["agents"],
        )
    )  # fmt: skip
