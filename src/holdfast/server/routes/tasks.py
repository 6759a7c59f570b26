"""Projects, requests and tasks, and the hierarchy that they form."""

from __future__ import annotations

import time

from litestar import Router, delete, get, patch, post
from litestar.params import JSONBody

from holdfast.errors import InvalidInput
from holdfast.ledger import hierarchy, projects, status, work
from holdfast.ledger.schema import NO_WAVE, PROJECTS, REQUESTS, TASKS
from holdfast.server import pagination
from holdfast.server.dependencies import CallerDatabases
from holdfast.server.requests import (
    Cursor,
    FolderQuery,
    Limit,
    NewProject,
    NewRequest,
    NewTask,
    ProjectFilter,
    ProjectPath,
    RequestFilter,
    RequestUpdate,
    RowId,
    SessionFilter,
    StatusFilter,
    TaskUpdate,
    WaveFilter,
)
from holdfast.server.responses import (
    Hierarchy,
    ProjectList,
    ProjectRow,
    RequestList,
    RequestRow,
    TaskList,
    TaskRow,
)
from holdfast.server.rows import delete_row, get_row, list_rows, to_hierarchy, to_response

# Projects


@post("/projects", sync_to_thread=True)
def add_project(databases: CallerDatabases, data: JSONBody[NewProject]) -> ProjectRow:
    """Add a project: a working tree, identified by its folder. If there is a project at this folder
    already, it is returned.
    """
    with databases.connect() as db:
        row = projects.ensure_project(
            db.ledger, data.path, time.time(), name=data.name, metadata=data.metadata
        )
    return to_response(row, ProjectRow)


@get("/projects", sync_to_thread=True)
def list_projects(
    databases: CallerDatabases, limit: Limit = 100, page: Cursor = None
) -> ProjectList:
    """List all projects, newest first."""
    with databases.connect() as db:
        rows, cursor = list_rows(db, PROJECTS, limit, page)
    return {"projects": [to_response(row, ProjectRow) for row in rows], "next": cursor}


@get("/projects/by-path", sync_to_thread=True)
def find_project(databases: CallerDatabases, path: FolderQuery) -> ProjectRow:
    """Find the project that a folder belongs to: its own, or that of the nearest parent folder."""
    with databases.connect() as db:
        return to_response(projects.find_by_path(db.ledger, path), ProjectRow)


@get("/projects/{ident:str}", sync_to_thread=True)
def get_project(databases: CallerDatabases, ident: RowId) -> ProjectRow:
    """Get one project."""
    return get_row(databases, PROJECTS, ident, ProjectRow)


@delete("/projects/{ident:str}", sync_to_thread=True)
def delete_project(databases: CallerDatabases, ident: RowId) -> None:
    """Delete a project with its requests, tasks and subtasks. Needs the scope `admin`."""
    delete_row(databases, PROJECTS, ident)


@get("/hierarchy/{project_id:str}", sync_to_thread=True)
def get_hierarchy(
    databases: CallerDatabases,
    project_id: ProjectPath,
    limit: Limit = hierarchy.DEFAULT_REQUESTS,
    page: Cursor = None,
) -> Hierarchy:
    """Get a project's newest requests, in the order they were made, with their tasks and
    subtasks.
    """
    before = pagination.parse_cursor(page)
    with databases.connect() as db:
        found = hierarchy.build_hierarchy(db.ledger, project_id, limit=limit, before=before)
    oldest = found["requests"][0] if found.pop("more") else None
    return to_hierarchy(
        found, pagination.to_cursor(oldest, REQUESTS.order_column) if oldest else None
    )


# Requests


@post("/requests", sync_to_thread=True)
def add_request(databases: CallerDatabases, data: JSONBody[NewRequest]) -> RequestRow:
    """Add a request of a user. The same prompt in the session's transcript is the same row."""
    with databases.connect() as db:
        row = work.add_request(
            db.ledger, time.time(), session=data.session_id,
            project=db.find_project(data.project_id, data.session_id),
            prompt=data.prompt, prompt_type=data.prompt_type, status=data.status,
            metadata=data.metadata, key=data.key,
        )  # fmt: skip
    return to_response(row, RequestRow)


@get("/requests", sync_to_thread=True)
def list_requests(
    databases: CallerDatabases,
    limit: Limit = 100,
    page: Cursor = None,
    session_id: SessionFilter = None,
    project_id: ProjectFilter = None,
    status: StatusFilter = None,
) -> RequestList:
    """List requests, newest first."""
    with databases.connect() as db:
        rows, cursor = list_rows(
            db, REQUESTS, limit, page, session=session_id, project=project_id, status=status
        )
    return {"requests": [to_response(row, RequestRow) for row in rows], "next": cursor}


@get("/requests/{ident:str}", sync_to_thread=True)
def get_request(databases: CallerDatabases, ident: RowId) -> RequestRow:
    """Get one request."""
    return get_row(databases, REQUESTS, ident, RequestRow)


@patch("/requests/{ident:str}", sync_to_thread=True)
def update_request(
    databases: CallerDatabases, ident: RowId, data: JSONBody[RequestUpdate]
) -> RequestRow:
    """Change the status of a request. Cancelling it cancels its open tasks and subtasks."""
    with databases.connect() as db:
        row = db.ledger.require(REQUESTS, ident)
        changed = status.set_status_with_parts(db.ledger, REQUESTS, row, data.status, time.time())
    return to_response(changed, RequestRow)


@delete("/requests/{ident:str}", sync_to_thread=True)
def delete_request(databases: CallerDatabases, ident: RowId) -> None:
    """Delete a request with its tasks and subtasks."""
    delete_row(databases, REQUESTS, ident)


# Tasks


@post("/tasks", sync_to_thread=True)
def add_task(databases: CallerDatabases, data: JSONBody[NewTask]) -> TaskRow:
    """Add a task to a request, optionally in a wave."""
    with databases.connect() as db:
        row = work.add_task(
            db.ledger, time.time(), request=db.ledger.require(REQUESTS, data.request_id),
            name=data.name, status=data.status, key=data.key,
            wave_number=NO_WAVE if data.wave_number is None else data.wave_number,
        )  # fmt: skip
    return to_response(row, TaskRow)


@get("/tasks", sync_to_thread=True)
def list_tasks(
    databases: CallerDatabases,
    limit: Limit = 100,
    page: Cursor = None,
    session_id: SessionFilter = None,
    project_id: ProjectFilter = None,
    request_id: RequestFilter = None,
    wave_number: WaveFilter = None,
    status: StatusFilter = None,
) -> TaskList:
    """List tasks, newest first."""
    with databases.connect() as db:
        rows, cursor = list_rows(
            db, TASKS, limit, page, session=session_id, project=project_id, request=request_id,
            wave_number=wave_number, status=status,
        )  # fmt: skip
    return {"tasks": [to_response(row, TaskRow) for row in rows], "next": cursor}


@get("/tasks/{ident:str}", sync_to_thread=True)
def get_task(databases: CallerDatabases, ident: RowId) -> TaskRow:
    """Get one task."""
    return get_row(databases, TASKS, ident, TaskRow)


@patch("/tasks/{ident:str}", sync_to_thread=True)
def update_task(databases: CallerDatabases, ident: RowId, data: JSONBody[TaskUpdate]) -> TaskRow:
    """Change the status or the wave of a task. Cancelling it cancels its subtasks."""
    if data.status is None and data.wave_number is None:
        raise InvalidInput("Nothing to change was given", hint="send `status` or `wave_number`")
    with databases.connect() as db:
        changed = status.change_task(
            db.ledger, ident, time.time(), status=data.status or "", wave=data.wave_number
        )
    return to_response(changed, TaskRow)


@delete("/tasks/{ident:str}", sync_to_thread=True)
def delete_task(databases: CallerDatabases, ident: RowId) -> None:
    """Delete a task with its subtasks."""
    delete_row(databases, TASKS, ident)


def create_router() -> Router:
    return Router("/api", tags=["work"], route_handlers=[
        add_project, list_projects, find_project, get_project, delete_project, get_hierarchy,
        add_request, list_requests, get_request, update_request, delete_request,
        add_task, list_tasks, get_task, update_task, delete_task,
    ])  # fmt: skip
