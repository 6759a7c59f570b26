"""How much a state knows, so that a thin one never stands in for a rich one."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.state.model import State


def richness(state: State) -> int:
    """The number of things known; 0 means that there is nothing to save or restore."""
    return sum(
        len(part)
        for part in (
            state["requests"], state["rules"], state["decisions"], state["plan"],
            state["files"], state["checks"], state["commits"], state["agents"],
        )
    )  # fmt: skip
