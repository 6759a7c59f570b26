"""Subtasks, which agents work on, and actions, which are their tool calls."""

from __future__ import annotations

import time
from typing import Any

from litestar import Router, delete, get, patch, post
from litestar.params import JSONBody
from msgspec import UNSET

from holdfast.errors import InvalidInput
from holdfast.ledger import status, work
from holdfast.ledger.actions import post_action
from holdfast.ledger.schema import ACTIONS, SUBTASKS, TASKS
from holdfast.server.databases import normalize_id
from holdfast.server.dependencies import CallerDatabases
from holdfast.server.requests import (
    AgentFilter,
    AgentTypeFilter,
    Cursor,
    Limit,
    NewAction,
    NewSubtask,
    ProjectFilter,
    RowId,
    SessionFilter,
    StatusFilter,
    SubtaskFilter,
    SubtaskUpdate,
    TaskFilter,
    TaskListFilter,
    ToolFilter,
)
from holdfast.server.responses import ActionList, ActionRow, SubtaskList, SubtaskRow
from holdfast.server.rows import delete_row, get_row, list_rows, to_response, to_subtask

# Subtasks


@post("/subtasks", sync_to_thread=True)
def add_subtask(databases: CallerDatabases, data: JSONBody[NewSubtask]) -> SubtaskRow:
    """Add a subtask to a task. It is `blocked` until all subtasks in `blocked_by` are completed or
    cancelled.
    """
    with databases.connect() as db:
        task_id = data.task_id or data.task_list_id
        if not task_id:
            raise InvalidInput("A subtask needs the task_id of its task")
        task = db.ledger.require(TASKS, task_id)
        for blocker in data.blocked_by:
            db.ledger.require(SUBTASKS, blocker)
        row = work.add_subtask(
            db.ledger, time.time(), task=task, description=data.description,
            agent_type=data.agent_type, agent_id=data.agent_id or "", status=data.status,
            blocked_by=data.blocked_by, priority=data.priority, key=data.key,
        )  # fmt: skip
    return to_subtask(row)


@get("/subtasks", sync_to_thread=True)
def list_subtasks(
    databases: CallerDatabases,
    limit: Limit = 100,
    page: Cursor = None,
    session_id: SessionFilter = None,
    project_id: ProjectFilter = None,
    task_id: TaskFilter = None,
    task_list_id: TaskListFilter = None,
    agent_id: AgentFilter = None,
    agent_type: AgentTypeFilter = None,
    status: StatusFilter = None,
) -> SubtaskList:
    """List subtasks, newest first."""
    with databases.connect() as db:
        rows, cursor = list_rows(
            db, SUBTASKS, limit, page, session=session_id, project=project_id,
            task=task_list_id if task_id is None else task_id, agent_id=agent_id,
            agent_type=agent_type, status=status,
        )  # fmt: skip
    return {"subtasks": [to_subtask(row) for row in rows], "next": cursor}


@get("/subtasks/{ident:str}", sync_to_thread=True)
def get_subtask(databases: CallerDatabases, ident: RowId) -> SubtaskRow:
    """Get one subtask."""
    with databases.connect() as db:
        return to_subtask(db.ledger.require(SUBTASKS, ident))


@patch("/subtasks/{ident:str}", sync_to_thread=True)
def update_subtask(
    databases: CallerDatabases, ident: RowId, data: JSONBody[SubtaskUpdate]
) -> SubtaskRow:
    """Change a subtask's status, result, agent, priority, or what it waits for."""
    fields: dict[str, Any] = {"agent_id": data.agent_id, "priority": data.priority}
    fields = {name: value for name, value in fields.items() if value is not None}
    if data.result is not UNSET:
        fields["result"] = data.result
    with databases.connect() as db:
        row = status.change_subtask(
            db.ledger, ident, time.time(), status=data.status or "",
            blocked_by=data.blocked_by, **fields,
        )  # fmt: skip
    return to_subtask(row)


@delete("/subtasks/{ident:str}", sync_to_thread=True)
def delete_subtask(databases: CallerDatabases, ident: RowId) -> None:
    """Delete a subtask. Subtasks that waited for it no longer do."""
    delete_row(databases, SUBTASKS, ident)


# Actions


@post("/actions", sync_to_thread=True)
def add_action(databases: CallerDatabases, data: JSONBody[NewAction]) -> ActionRow:
    """Record a tool call. With the host's `tool_use_id` it is the same row that Holdfast adds for
    the call when it reads the transcript.
    """
    with databases.connect() as db:
        project = db.find_project(
            data.project_id, data.session_id, subtask=normalize_id(data.subtask_id)
        )
    row, has_project = data.to_row(time.time(), project), bool(normalize_id(data.project_id))
    saved = databases.write(lambda db: post_action(db.ledger, row, is_project_given=has_project))
    return to_response(saved, ActionRow)


@get("/actions", sync_to_thread=True)
def list_actions(
    databases: CallerDatabases,
    limit: Limit = 100,
    page: Cursor = None,
    session_id: SessionFilter = None,
    project_id: ProjectFilter = None,
    subtask_id: SubtaskFilter = None,
    tool_name: ToolFilter = None,
) -> ActionList:
    """List tool calls, newest first."""
    with databases.connect() as db:
        rows, cursor = list_rows(
            db, ACTIONS, limit, page, session=session_id, project=project_id, subtask=subtask_id,
            tool_name=tool_name,
        )  # fmt: skip
    return {"actions": [to_response(row, ActionRow) for row in rows], "next": cursor}


@get("/actions/{ident:str}", sync_to_thread=True)
def get_action(databases: CallerDatabases, ident: RowId) -> ActionRow:
    """Get one tool call."""
    return get_row(databases, ACTIONS, ident, ActionRow)


@delete("/actions/{ident:str}", sync_to_thread=True)
def delete_action(databases: CallerDatabases, ident: RowId) -> None:
    """Delete a tool call."""
    delete_row(databases, ACTIONS, ident)


def create_router() -> Router:
    return Router("/api", tags=["work"], route_handlers=[
        add_subtask, list_subtasks, get_subtask, update_subtask, delete_subtask, add_action,
        list_actions, get_action, delete_action,
    ])  # fmt: skip
