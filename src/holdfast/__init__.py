"""Holdfast keeps a coding agent's working state through context compaction."""

from __future__ import annotations

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.handoff.model import Handoff, HandoffRequest
    from holdfast.handoff.orchestrator import OrchestratorState
    from holdfast.session.checkpoint import Checkpoint
    from holdfast.session.manager import SessionManager
    from holdfast.session.spend import Ceiling

# Loaded when asked for: every hook imports this package.
_PUBLIC = {
    "Ceiling": "holdfast.session.spend",
    "Checkpoint": "holdfast.session.checkpoint",
    "Handoff": "holdfast.handoff.model",
    "HandoffRequest": "holdfast.handoff.model",
    "OrchestratorState": "holdfast.handoff.orchestrator",
    "SessionManager": "holdfast.session.manager",
}
__all__ = [
    "Ceiling", "Checkpoint", "Handoff", "HandoffRequest", "OrchestratorState", "SessionManager",
    "__version__",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_PUBLIC[name]), name)
