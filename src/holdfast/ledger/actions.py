"""Tool calls, written once: the fold's and a caller's are the same if the call's id is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.ledger import ids
from holdfast.ledger.tables import ACTIONS

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Ledger, Row


def add_action(ledger: Ledger, now: float, **fields: Any) -> Row:
    """Keep a tool call; see `action` for what is known of one."""
    return ledger.write(ACTIONS, action(now, **fields))


def action(
    now: float,
    *,
    tool_name: str,
    ident: str,
    session: str = "",
    project: str = "",
    subtask: str = "",
    tool_type: str = "builtin",
    given: Any = None,
    output: Any = None,
    file_paths: list[str] | None = None,
    exit_code: int | None = None,
    duration_ms: int | None = None,
    metadata: dict[str, Any] | None = None,
) -> Row:
    return {
        "id": ident, "project": project, "session": session, "subtask": subtask,
        "tool_name": tool_name, "tool_type": tool_type, "input": given, "output": output,
        "file_paths": file_paths or [], "exit_code": exit_code, "duration_ms": duration_ms,
        "metadata": metadata or {}, "created_at": now, "updated_at": now,
    }  # fmt: skip


def call_id(session: str, call: str) -> str:
    """The id of the action that a host's tool call is."""
    return ids.ident("action", session, call)


def tool_type(name: str) -> str:
    return "mcp" if name.startswith("mcp__") else "builtin"
