"""Actions: one row for each tool call. Rows of the fold and of a caller are merged if the caller
gives the id of the tool call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.errors import Conflict
from holdfast.ledger.schema import ACTIONS, make_id

if TYPE_CHECKING:
    from holdfast.ledger.repository import Ledger, Row

BUILTIN = "builtin"
# Values that mean "not given" when rows are merged.
DEFAULT_VALUES: tuple[Any, ...] = (None, "", [], {}, BUILTIN)


def add_action(ledger: Ledger, now: float, **fields: Any) -> Row:
    """Save a tool call that was read from a transcript; see `build_action` for the fields."""
    row = build_action(now, **fields)
    return _merge(ledger, ledger.get(ACTIONS, row["id"]), row)


def post_action(ledger: Ledger, row: Row, *, is_project_given: bool = True) -> Row:
    """Save a tool call that an API caller reported.

    Raises Conflict if the id belongs to a call of another tool or session. A project that the
    caller has not given does not replace the known one.
    """
    known = ledger.get(ACTIONS, row["id"])
    if known and (known["session"], known["tool_name"]) != (row["session"], row["tool_name"]):
        raise Conflict(f"{row['id']} is already the id of another call, of {known['tool_name']}")
    if known and known["project"] and not is_project_given:
        row = {**row, "project": known["project"]}
    return _merge(ledger, known, row)


def _merge(ledger: Ledger, known: Row | None, row: Row) -> Row:
    """Write the row over the known one; values that are not given stay as they were."""
    if known is None:
        return ledger.write(ACTIONS, row)
    given = {name: value for name, value in row.items() if value not in DEFAULT_VALUES}
    # A transcript may be read after the caller has reported the call. Its row has the earlier time
    # of the call, but the upsert must not ignore it as old.
    updated_at = max(known["updated_at"], row["updated_at"])
    merged = {**known, **given, "created_at": known["created_at"], "updated_at": updated_at}
    return ledger.write(ACTIONS, merged) if merged != known else known


def build_action(
    now: float,
    *,
    tool_name: str,
    ident: str,
    session: str = "",
    project: str = "",
    subtask: str = "",
    tool_type: str = BUILTIN,
    tool_input: Any = None,
    output: Any = None,
    file_paths: list[str] | None = None,
    exit_code: int | None = None,
    duration_ms: int | None = None,
    metadata: dict[str, Any] | None = None,
) -> Row:
    """Return the row of a tool call."""
    return {
        "id": ident, "project": project, "session": session, "subtask": subtask,
        "tool_name": tool_name, "tool_type": tool_type, "input": tool_input, "output": output,
        "file_paths": file_paths or [], "exit_code": exit_code, "duration_ms": duration_ms,
        "metadata": metadata or {}, "created_at": now, "updated_at": now,
    }  # fmt: skip


def make_action_id(session: str, call: str) -> str:
    """Return the id of the action for a tool call of a host."""
    return make_id("action", session, call)


def classify_tool(name: str) -> str:
    return "mcp" if name.startswith("mcp__") else BUILTIN
