"""Convert rows of the ledger and the store to responses; list, get and delete rows of any table."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from holdfast.errors import NotFound
from holdfast.ledger import agents, status
from holdfast.ledger.schema import NO_WAVE, Table
from holdfast.server import pagination
from holdfast.server.databases import Connections, Databases
from holdfast.server.responses import (
    AgentRow,
    ContextRow,
    Hierarchy,
    MessageRow,
    MessageWithReaders,
    SessionSummary,
    SubtaskRow,
)

if TYPE_CHECKING:
    from holdfast.ledger.repository import Row
    from holdfast.store.protocols import SnapshotWithFolder

Response = TypeVar("Response")

TIME_COLUMNS = frozenset({
    "created_at", "updated_at", "completed_at", "started_at", "expires_at", "ended_at", "seen_at",
    "compacted_at", "revoked_at", "opened_at", "brief_at",
})  # fmt: skip
FOREIGN_KEYS = {
    "project": "project_id",
    "session": "session_id",
    "request": "request_id",
    "task": "task_id",
    "subtask": "subtask_id",
}
INTERNAL_COLUMNS = frozenset({
    "source", "likeness", "posted", "folded", "retry", "retry_words", "hash",
})  # fmt: skip


@overload
def to_time(seconds: float) -> str: ...
@overload
def to_time(seconds: None) -> None: ...
def to_time(seconds: float | None) -> str | None:
    """Return a Unix time in ISO 8601, in UTC with milliseconds."""
    if seconds is None:
        return None
    second, micro = divmod(round(seconds * 1_000_000), 1_000_000)
    return f"{_to_second(second)}.{micro // 1000:03d}Z"


# Many rows of a list are from the same second.
@lru_cache(maxsize=1024)
def _to_second(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).isoformat().removesuffix("+00:00")


def to_response(row: Row, _: type[Response]) -> Response:
    """Return a ledger row without internal columns, with ISO times and foreign keys named `…_id`.

    The second argument is the type of the result, for the type checker only.
    """
    fields: dict[str, Any] = {}
    for name, value in row.items():
        if name in INTERNAL_COLUMNS:
            continue
        if name in TIME_COLUMNS:
            value = to_time(value)
        elif name in FOREIGN_KEYS:
            # The ledger stores an unknown key as an empty string.
            value = value or None
        fields[FOREIGN_KEYS.get(name, name)] = value
    if row.get("wave_number") == NO_WAVE:
        fields["wave_number"] = None
    return cast(Response, fields)


def to_subtask(row: Row) -> SubtaskRow:
    fields = to_response(row, SubtaskRow)
    return {**fields, "task_list_id": row["task"], "agent_id": row["agent_id"] or None}


def to_hierarchy(found: dict[str, Any], cursor: str | None) -> Hierarchy:
    """Return a project with its requests, their tasks and the subtasks of those."""
    requests = [
        {
            **to_response({**request, "tasks": None}, dict[str, Any]),
            "tasks": [
                {
                    **to_response({**task, "subtasks": None}, dict[str, Any]),
                    "subtasks": [to_subtask(row) for row in task["subtasks"]],
                }
                for task in request["tasks"]
            ],
        }
        for request in found["requests"]
    ]
    project = to_response(found["project"], dict[str, Any])
    return cast(Hierarchy, {"project": project, "requests": requests, "next": cursor})


def to_context(row: Row) -> ContextRow:
    fields = to_response(row, dict[str, Any])
    fields["last_updated"] = fields.pop("updated_at")
    return cast(ContextRow, fields)


def to_message(row: Row) -> MessageRow:
    return {**to_response(row, MessageRow), "to_agent_id": row["to_agent_id"] or None}


def to_message_with_readers(row: Row, read_by: list[str]) -> MessageWithReaders:
    return {**to_message(row), "read_by": read_by}


def to_agent(row: Row, now: float) -> AgentRow:
    """Return an agent with its capacity at the time `now`."""
    fields = to_response(row, dict[str, Any])
    del fields["rate"]
    fields |= {
        "current_usage": fields.pop("used"),
        "max_capacity": fields.pop("capacity"),
        "compact_count": fields.pop("compactions"),
        "last_compact_at": fields.pop("compacted_at"),
        "parent_agent_id": fields.pop("parent") or None,
    }
    return cast(AgentRow, {**fields, **agents.describe_capacity(row, now)})


def to_session(row: dict[str, Any]) -> SessionSummary:
    """Return a session of the store without its state."""
    usage = row["state"]["usage"]
    fields = {
        "id": row["id"],
        "host": row["host"],
        "project_path": row["project"],
        "started_at": to_time(row["started_at"]),
        "seen_at": to_time(row["seen_at"]),
        "ended_at": to_time(row["ended_at"]),
        "context_tokens": usage["context"],
        "context_window": usage["window"],
        "total_tools_used": usage["tool_calls"],
        "compactions": len(row["state"]["compactions"]),
    }
    return cast(SessionSummary, fields)


def to_snapshot_context(row: SnapshotWithFolder, project: str) -> ContextRow:
    """Return a snapshot of the store as a context of type `compact-snapshot`."""
    state = row["state"]
    latest = state["requests"][-1]["text"] if state["requests"] else ""
    edited = [path for path, trail in state["files"].items() if trail.get("edits")]
    fields = {
        "id": row["id"],
        "project_id": project or None,
        "session_id": row["session"],
        "agent_id": row["session"],
        "agent_type": "compact-snapshot",
        "role_context": {
            "session_id": row["session"],
            "trigger": row["reason"],
            "context_summary": latest,
            "active_tasks": [
                {"description": item["text"], "status": item["status"]}
                for item in state["plan"]
                if item["status"] != "completed"
            ],
            "modified_files": edited[-20:],
            "key_decisions": [decision["text"] for decision in state["decisions"]],
            "agent_states": [
                {"agent_id": agent["id"], "agent_type": agent["type"], "status": agent["status"]}
                for agent in state["agents"]
            ],
            "context_tokens": row["context"],
            "line": row["line"],
        },
        "skills_to_restore": [command["name"] for command in state["commands"]],
        "tools_used": [],
        "progress_summary": latest,
        "created_at": to_time(row["created_at"]),
        "last_updated": to_time(row["created_at"]),
    }
    return cast(ContextRow, fields)


# Operations that most tables share


def list_rows(
    db: Connections, table: Table, limit: int, page: str | None, **filters: str | int | None
) -> tuple[list[Row], str | None]:
    """Return one page of a table and the cursor of the next page; a filter of None is ignored."""
    given: dict[str, Any] = {name: value for name, value in filters.items() if value is not None}
    rows = db.ledger.find(table, limit=limit + 1, before=pagination.parse_cursor(page), **given)
    return pagination.split_page(rows, limit, table.order_column)


def get_row(databases: Databases, table: Table, ident: str, kind: type[Response]) -> Response:
    """Return one row as a response. Raises `NotFound` if there is none."""
    with databases.connect() as db:
        return to_response(db.ledger.require(table, ident), kind)


def delete_row(databases: Databases, table: Table, ident: str) -> None:
    """Delete a row with its tasks and subtasks. Raises `NotFound` if there is none."""
    with databases.connect() as db:
        row = db.ledger.get(table, ident)
        if row is None:
            raise NotFound(f"No row {ident} in {table.name}")
        status.delete_with_parts(db.ledger, table, row, time.time())
