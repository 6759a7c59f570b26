"""Subtasks, which agents work on, and actions, which are their tool calls."""

from __future__ import annotations

import time

from litestar import Router, delete, get, patch, post
from litestar.params import FromPath, JSONBody
from msgspec import UNSET

from holdfast.errors import BadUsage
from holdfast.ledger import changing, work
from holdfast.ledger.actions import post_action
from holdfast.ledger.tables import ACTIONS, SUBTASKS, TASKS
from holdfast.surfaces.api import answers, named
from holdfast.surfaces.api.needs import TheDesk
from holdfast.surfaces.api.rows import Answer, drop_row, listed, one_row
from holdfast.surfaces.api.shapes import ChangedSubtask, Filter, Limit, NewAction, NewSubtask, Page

# Subtasks


@post("/subtasks", sync_to_thread=True)
def add_subtask(desk: TheDesk, data: JSONBody[NewSubtask]) -> Answer:
    """Add a subtask to a task. It is `blocked` until all that it waits for are done."""
    with desk.books() as books:
        named = data.task_id or data.task_list_id
        if not named:
            raise BadUsage("a subtask needs the task_id of its task")
        task = books.ledger.need(TASKS, named)
        for blocker in data.blocked_by:
            books.ledger.need(SUBTASKS, blocker)
        made = work.add_subtask(
            books.ledger, time.time(), task=task, description=data.description,
            agent_type=data.agent_type, agent_id=data.agent_id or "", status=data.status,
            blocked_by=data.blocked_by, priority=data.priority, key=data.key,
        )  # fmt: skip
    return answers.subtask(made)


@get("/subtasks", sync_to_thread=True)
def all_subtasks(
    desk: TheDesk,
    limit: Limit = 100,
    page: Page = None,
    session_id: Filter = None,
    project_id: Filter = None,
    task_id: Filter = None,
    task_list_id: Filter = None,
    agent_id: Filter = None,
    agent_type: Filter = None,
    status: Filter = None,
) -> Answer:
    """Subtasks, the latest first."""
    with desk.books() as books:
        return listed(
            books, SUBTASKS, "subtasks", limit, page, session=session_id, project=project_id,
            task=task_list_id if task_id is None else task_id, agent_id=agent_id,
            agent_type=agent_type, status=status,
        )  # fmt: skip


@get("/subtasks/{ident:str}", sync_to_thread=True)
def one_subtask(desk: TheDesk, ident: FromPath[str]) -> Answer:
    """One subtask."""
    with desk.books() as books:
        return answers.subtask(books.ledger.need(SUBTASKS, ident))


@patch("/subtasks/{ident:str}", sync_to_thread=True)
def change_subtask(desk: TheDesk, ident: FromPath[str], data: JSONBody[ChangedSubtask]) -> Answer:
    """Say how far it is, what came of it, who does it, or what it waits for."""
    with desk.books() as books:
        fields: Answer = {} if data.result is UNSET else {"result": data.result}
        said = {"agent_id": data.agent_id, "priority": data.priority}
        fields |= {name: value for name, value in said.items() if value is not None}
        moved = changing.change_subtask(
            books.ledger, ident, time.time(), status=data.status or "",
            blocked_by=data.blocked_by, **fields,
        )  # fmt: skip
    return answers.subtask(moved)


@delete("/subtasks/{ident:str}", sync_to_thread=True)
def drop_subtask(desk: TheDesk, ident: FromPath[str]) -> None:
    """Delete a subtask. Who waited for it waits no longer."""
    drop_row(desk, SUBTASKS, ident)


# Actions


@post("/actions", sync_to_thread=True)
def add_an_action(desk: TheDesk, data: JSONBody[NewAction]) -> Answer:
    """Tell of a tool call. With the host's `tool_use_id` it is the one that the fold finds."""
    with desk.books() as books:
        project = named.project_of_work(
            desk, books, data.project_id, data.session_id, data.subtask_id
        )
        made = post_action(
            books.ledger, data.row(time.time(), project),
            is_project_said=bool(named.plain(data.project_id)),
        )  # fmt: skip
    return answers.answer(made)


@get("/actions", sync_to_thread=True)
def all_actions(
    desk: TheDesk,
    limit: Limit = 100,
    page: Page = None,
    session_id: Filter = None,
    project_id: Filter = None,
    subtask_id: Filter = None,
    tool_name: Filter = None,
) -> Answer:
    """Tool calls, the latest first."""
    with desk.books() as books:
        return listed(
            books, ACTIONS, "actions", limit, page, session=session_id, project=project_id,
            subtask=subtask_id, tool_name=tool_name,
        )  # fmt: skip


@get("/actions/{ident:str}", sync_to_thread=True)
def one_action(desk: TheDesk, ident: FromPath[str]) -> Answer:
    """One tool call."""
    return one_row(desk, ACTIONS, ident)


@delete("/actions/{ident:str}", sync_to_thread=True)
def drop_action(desk: TheDesk, ident: FromPath[str]) -> None:
    """Delete a tool call."""
    drop_row(desk, ACTIONS, ident)


def router() -> Router:
    return Router("/api", tags=["work"], route_handlers=[
        add_subtask, all_subtasks, one_subtask, change_subtask, drop_subtask, add_an_action,
        all_actions, one_action, drop_action,
    ])  # fmt: skip
