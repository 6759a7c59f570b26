"""Tool calls, written once: the fold's and a caller's are the same if the call's id is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.errors import NotNow
from holdfast.ledger import ids
from holdfast.ledger.tables import ACTIONS

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Ledger, Row

# What a caller need not say, and a call is unless its name tells otherwise.
BUILTIN = "builtin"
NOTHING: tuple[Any, ...] = (None, "", [], {}, BUILTIN)


def add_action(ledger: Ledger, now: float, **fields: Any) -> Row:
    """Keep a tool call that a log tells of; see `action` for what is known of one."""
    row = action(now, **fields)
    return _together(ledger, ledger.get(ACTIONS, row["id"]), row)


def post_action(ledger: Ledger, row: Row, *, is_project_said: bool = True) -> Row:
    """The same for a caller's word, which makes no other call of one that is known. A project that
    was not said does not count against one that was.
    """
    known = ledger.get(ACTIONS, row["id"])
    if known and (known["session"], known["tool_name"]) != (row["session"], row["tool_name"]):
        raise NotNow(f"{row['id']} is the id of another call, of {known['tool_name']}")
    if known and known["project"] and not is_project_said:
        row = {**row, "project": known["project"]}
    return _together(ledger, known, row)


def _together(ledger: Ledger, known: Row | None, row: Row) -> Row:
    """What is said now counts, and what is not stays as it was."""
    if known is None:
        return ledger.write(ACTIONS, row)
    said = {name: value for name, value in row.items() if value not in NOTHING}
    # A log tells of it later, with the time at which it was: that is news nevertheless.
    later = max(known["updated_at"], row["updated_at"])
    told = {**known, **said, "created_at": known["created_at"], "updated_at": later}
    return ledger.write(ACTIONS, told) if told != known else known


def action(
    now: float,
    *,
    tool_name: str,
    ident: str,
    session: str = "",
    project: str = "",
    subtask: str = "",
    tool_type: str = BUILTIN,
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
    return "mcp" if name.startswith("mcp__") else BUILTIN
