"""Holdfast keeps a coding agent's working state through context compaction."""

from __future__ import annotations

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.conversations.async_facade import AsyncSessionManager
    from holdfast.conversations.brief import build_brief
    from holdfast.conversations.checkpoint import Checkpoint
    from holdfast.conversations.cost_limit import Ceiling
    from holdfast.conversations.manager import SessionManager
    from holdfast.handoff.orchestrator import OrchestratorState
    from holdfast.handoff.types import Handoff, HandoffRequest

# Imported on first use, because every hook imports this package.
_PUBLIC = {
    "AsyncSessionManager": "holdfast.conversations.async_facade",
    "Ceiling": "holdfast.conversations.cost_limit",
    "Checkpoint": "holdfast.conversations.checkpoint",
    "Handoff": "holdfast.handoff.types",
    "HandoffRequest": "holdfast.handoff.types",
    "OrchestratorState": "holdfast.handoff.orchestrator",
    "SessionManager": "holdfast.conversations.manager",
    "build_brief": "holdfast.conversations.brief",
}
__all__ = [
    "AsyncSessionManager", "Ceiling", "Checkpoint", "Handoff", "HandoffRequest",
    "OrchestratorState", "SessionManager", "__version__", "build_brief",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_PUBLIC[name]), name)
