"""Projects, requests, tasks, subtasks, actions, and the tree they make."""

from __future__ import annotations

import time
import uuid
from typing import Any

from litestar import Router, delete, get, patch, post
from litestar.params import FromPath, FromQuery, JSONBody

from holdfast.errors import NoSuchRecord
from holdfast.ledger import projects, tree, work
from holdfast.ledger.actions import add_action, call_id
from holdfast.ledger.tables import ACTIONS, PROJECTS, REQUESTS, SUBTASKS, TASKS, Table
from holdfast.ledger.waves import NO_WAVE
from holdfast.surfaces.api import answers, cursor
from holdfast.surfaces.api.desk import Books, Desk
from holdfast.surfaces.api.needs import TheDesk
from holdfast.surfaces.api.shapes import (
    ChangedRequest,
    ChangedSubtask,
    ChangedTask,
    Filter,
    Limit,
    NewAction,
    NewProject,
    NewRequest,
    NewSubtask,
    NewTask,
    Page,
    Path,
)

Answer = dict[str, Any]


def listed(
    books: Books, table: Table, name: str, most: int, page: str | None, **equal: str | None
) -> Answer:
    """One page of a table; a filter that is given filters."""
    named: dict[str, Any] = {key: value for key, value in equal.items() if value is not None}
    rows = books.ledger.rows(table, most=most + 1, before=cursor.read(page), **named)
    kept, after = cursor.page(rows, most, table.order)
    told = answers.subtask if table is SUBTASKS else answers.answer
    return {name: [told(row) for row in kept], "next": after}


# Projects


@post("/projects", sync_to_thread=True)
def add_project(desk: TheDesk, data: JSONBody[NewProject]) -> Answer:
    with desk.books() as books:
        made = projects.project(
            books.ledger, data.path, time.time(), name=data.name, metadata=data.metadata
        )
    return answers.answer(made)


@get("/projects", sync_to_thread=True)
def all_projects(desk: TheDesk, limit: Limit = 100, page: Page = None) -> Answer:
    with desk.books() as books:
        return listed(books, PROJECTS, "projects", limit, page)


@get("/projects/by-path", sync_to_thread=True)
def project_by_path(desk: TheDesk, path: FromQuery[Path]) -> Answer:
    with desk.books() as books:
        return answers.answer(projects.by_path(books.ledger, path))


@get("/projects/{ident:str}", sync_to_thread=True)
def one_project(desk: TheDesk, ident: FromPath[str]) -> Answer:
    return _one(desk, PROJECTS, ident)


@delete("/projects/{ident:str}", sync_to_thread=True)
def drop_project(desk: TheDesk, ident: FromPath[str]) -> None:
    _drop(desk, PROJECTS, ident)


@get("/hierarchy/{project_id:str}", sync_to_thread=True)
def project_tree(
    desk: TheDesk, project_id: FromPath[str], limit: Limit = tree.MOST_REQUESTS
) -> Answer:
    with desk.books() as books:
        return answers.tree(tree.hierarchy(books.ledger, project_id, most=limit))


# Requests


@post("/requests", sync_to_thread=True)
def add_request(desk: TheDesk, data: JSONBody[NewRequest]) -> Answer:
    with desk.books() as books:
        made = work.add_request(
            books.ledger, time.time(), project=data.project_id, session=data.session_id,
            prompt=data.prompt, prompt_type=data.prompt_type, status=data.status,
            metadata=data.metadata,
        )  # fmt: skip
    return answers.answer(made)


@get("/requests", sync_to_thread=True)
def all_requests(
    desk: TheDesk,
    limit: Limit = 100,
    page: Page = None,
    session_id: Filter = None,
    project_id: Filter = None,
    status: Filter = None,
) -> Answer:
    with desk.books() as books:
        return listed(
            books, REQUESTS, "requests", limit, page, session=session_id, project=project_id,
            status=status,
        )  # fmt: skip


@get("/requests/{ident:str}", sync_to_thread=True)
def one_request(desk: TheDesk, ident: FromPath[str]) -> Answer:
    return _one(desk, REQUESTS, ident)


@patch("/requests/{ident:str}", sync_to_thread=True)
def change_request(desk: TheDesk, ident: FromPath[str], data: JSONBody[ChangedRequest]) -> Answer:
    return _move(desk, REQUESTS, ident, data.status)


@delete("/requests/{ident:str}", sync_to_thread=True)
def drop_request(desk: TheDesk, ident: FromPath[str]) -> None:
    _drop(desk, REQUESTS, ident)


# Tasks


@post("/tasks", sync_to_thread=True)
def add_task(desk: TheDesk, data: JSONBody[NewTask]) -> Answer:
    with desk.books() as books:
        made = work.add_task(
            books.ledger, time.time(), request=books.ledger.need(REQUESTS, data.request_id),
            name=data.name, status=data.status,
            wave_number=NO_WAVE if data.wave_number is None else data.wave_number,
        )  # fmt: skip
    return answers.answer(made)


@get("/tasks", sync_to_thread=True)
def all_tasks(
    desk: TheDesk,
    limit: Limit = 100,
    page: Page = None,
    session_id: Filter = None,
    project_id: Filter = None,
    request_id: Filter = None,
    status: Filter = None,
) -> Answer:
    with desk.books() as books:
        return listed(
            books, TASKS, "tasks", limit, page, session=session_id, project=project_id,
            request=request_id, status=status,
        )  # fmt: skip


@get("/tasks/{ident:str}", sync_to_thread=True)
def one_task(desk: TheDesk, ident: FromPath[str]) -> Answer:
    return _one(desk, TASKS, ident)


@patch("/tasks/{ident:str}", sync_to_thread=True)
def change_task(desk: TheDesk, ident: FromPath[str], data: JSONBody[ChangedTask]) -> Answer:
    return _move(desk, TASKS, ident, data.status)


@delete("/tasks/{ident:str}", sync_to_thread=True)
def drop_task(desk: TheDesk, ident: FromPath[str]) -> None:
    _drop(desk, TASKS, ident)


# Subtasks


@post("/subtasks", sync_to_thread=True)
def add_subtask(desk: TheDesk, data: JSONBody[NewSubtask]) -> Answer:
    with desk.books() as books:
        task = books.ledger.need(TASKS, data.task_id or data.task_list_id)
        made = work.add_subtask(
            books.ledger, time.time(), task=task, description=data.description,
            agent_type=data.agent_type, agent_id=data.agent_id or "", status=data.status,
            blocked_by=data.blocked_by, priority=data.priority,
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
    agent_id: Filter = None,
    agent_type: Filter = None,
    status: Filter = None,
) -> Answer:
    with desk.books() as books:
        return listed(
            books, SUBTASKS, "subtasks", limit, page, session=session_id, project=project_id,
            task=task_id, agent_id=agent_id, agent_type=agent_type, status=status,
        )  # fmt: skip


@get("/subtasks/{ident:str}", sync_to_thread=True)
def one_subtask(desk: TheDesk, ident: FromPath[str]) -> Answer:
    with desk.books() as books:
        return answers.subtask(books.ledger.need(SUBTASKS, ident))


@patch("/subtasks/{ident:str}", sync_to_thread=True)
def change_subtask(desk: TheDesk, ident: FromPath[str], data: JSONBody[ChangedSubtask]) -> Answer:
    with desk.books() as books:
        row = books.ledger.need(SUBTASKS, ident)
        fields: Answer = {} if data.result is None else {"result": data.result}
        if data.agent_id is not None:
            fields["agent_id"] = data.agent_id
        moved = work.set_status(
            books.ledger, SUBTASKS, row, data.status or row["status"], time.time(), **fields
        )
    return answers.subtask(moved)


@delete("/subtasks/{ident:str}", sync_to_thread=True)
def drop_subtask(desk: TheDesk, ident: FromPath[str]) -> None:
    _drop(desk, SUBTASKS, ident)


# Actions


@post("/actions", sync_to_thread=True)
def add_an_action(desk: TheDesk, data: JSONBody[NewAction]) -> Answer:
    """Tell of a tool call. With the host's `tool_use_id` it is the one that the fold finds."""
    ident = call_id(data.session_id, data.tool_use_id) if data.tool_use_id else data.id
    with desk.books() as books:
        made = add_action(
            books.ledger, time.time(), ident=ident or str(uuid.uuid4()), tool_name=data.tool_name,
            tool_type=data.tool_type, session=data.session_id, project=data.project_id or "",
            subtask=data.subtask_id or "", given=data.input, output=data.output,
            file_paths=data.file_paths, exit_code=data.exit_code, duration_ms=data.duration_ms,
            metadata=data.metadata,
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
    with desk.books() as books:
        return listed(
            books, ACTIONS, "actions", limit, page, session=session_id, project=project_id,
            subtask=subtask_id, tool_name=tool_name,
        )  # fmt: skip


@delete("/actions/{ident:str}", sync_to_thread=True)
def drop_action(desk: TheDesk, ident: FromPath[str]) -> None:
    _drop(desk, ACTIONS, ident)


def _one(desk: Desk, table: Table, ident: str) -> Answer:
    with desk.books() as books:
        return answers.answer(books.ledger.need(table, ident))


def _move(desk: Desk, table: Table, ident: str, status: str) -> Answer:
    with desk.books() as books:
        row = books.ledger.need(table, ident)
        return answers.answer(work.set_status(books.ledger, table, row, status, time.time()))


def _drop(desk: Desk, table: Table, ident: str) -> None:
    with desk.books() as books:
        row = books.ledger.get(table, ident)
        if row is None:
            raise NoSuchRecord(f"{ident} in {table.name}")
        books.ledger.remove(table, row, time.time())


def router() -> Router:
    return Router("/api", tags=["work"], route_handlers=[
        add_project, all_projects, project_by_path, one_project, drop_project, project_tree,
        add_request, all_requests, one_request, change_request, drop_request,
        add_task, all_tasks, one_task, change_task, drop_task,
        add_subtask, all_subtasks, one_subtask, change_subtask, drop_subtask,
        add_an_action, all_actions, drop_action,
    ])  # fmt: skip
