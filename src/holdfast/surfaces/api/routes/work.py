"""Projects, requests and tasks, and the tree they make."""

from __future__ import annotations

import time

from litestar import Router, delete, get, patch, post
from litestar.params import FromPath, FromQuery, JSONBody

from holdfast.errors import BadUsage
from holdfast.ledger import changing, projects, tree, work
from holdfast.ledger.tables import PROJECTS, REQUESTS, TASKS
from holdfast.ledger.waves import NO_WAVE
from holdfast.surfaces.api import answers, cursor, named
from holdfast.surfaces.api.needs import TheDesk
from holdfast.surfaces.api.rows import Answer, drop_row, listed, one_row
from holdfast.surfaces.api.shapes import (
    ChangedRequest,
    ChangedTask,
    Filter,
    Limit,
    NewProject,
    NewRequest,
    NewTask,
    Page,
    Path,
    WaveFilter,
)

# Projects


@post("/projects", sync_to_thread=True)
def add_project(desk: TheDesk, data: JSONBody[NewProject]) -> Answer:
    """Tell of a project: a working tree, by its folder. One that is known is told as it is."""
    with desk.books() as books:
        made = projects.project(
            books.ledger, data.path, time.time(), name=data.name, metadata=data.metadata
        )
    return answers.answer(made)


@get("/projects", sync_to_thread=True)
def all_projects(desk: TheDesk, limit: Limit = 100, page: Page = None) -> Answer:
    """All projects, the latest first."""
    with desk.books() as books:
        return listed(books, PROJECTS, "projects", limit, page)


@get("/projects/by-path", sync_to_thread=True)
def project_by_path(desk: TheDesk, path: FromQuery[Path]) -> Answer:
    """The project of a folder, or of any folder in it."""
    with desk.books() as books:
        return answers.answer(projects.by_path(books.ledger, path))


@get("/projects/{ident:str}", sync_to_thread=True)
def one_project(desk: TheDesk, ident: FromPath[str]) -> Answer:
    """One project."""
    return one_row(desk, PROJECTS, ident)


@delete("/projects/{ident:str}", sync_to_thread=True)
def drop_project(desk: TheDesk, ident: FromPath[str]) -> None:
    """Delete a project with all that hangs on it. Needs the scope `admin`."""
    drop_row(desk, PROJECTS, ident)


@get("/hierarchy/{project_id:str}", sync_to_thread=True)
def project_tree(
    desk: TheDesk,
    project_id: FromPath[str],
    limit: Limit = tree.MOST_REQUESTS,
    page: Page = None,
) -> Answer:
    """The newest requests, in the order in which they came, with all that hangs on them."""
    with desk.books() as books:
        found = tree.hierarchy(books.ledger, project_id, most=limit, before=cursor.read(page))
    first = found["requests"][0] if found.pop("more") else None
    after = cursor.written(first, REQUESTS.order) if first else None
    return {**answers.tree(found), "next": after}


# Requests


@post("/requests", sync_to_thread=True)
def add_request(desk: TheDesk, data: JSONBody[NewRequest]) -> Answer:
    """Tell what a user asked for. The same words of the same session are one row."""
    with desk.books() as books:
        made = work.add_request(
            books.ledger, time.time(), session=data.session_id,
            project=named.project_of_work(desk, books, data.project_id, data.session_id),
            prompt=data.prompt, prompt_type=data.prompt_type, status=data.status,
            metadata=data.metadata, key=data.key,
        )  # fmt: skip
    desk.joined(data.session_id)
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
    """Requests, the latest first."""
    with desk.books() as books:
        return listed(
            books, REQUESTS, "requests", limit, page, session=session_id, project=project_id,
            status=status,
        )  # fmt: skip


@get("/requests/{ident:str}", sync_to_thread=True)
def one_request(desk: TheDesk, ident: FromPath[str]) -> Answer:
    """One request."""
    return one_row(desk, REQUESTS, ident)


@patch("/requests/{ident:str}", sync_to_thread=True)
def change_request(desk: TheDesk, ident: FromPath[str], data: JSONBody[ChangedRequest]) -> Answer:
    """Say how far it is. Whoever calls a request off calls off all that is open of it."""
    with desk.books() as books:
        row = books.ledger.need(REQUESTS, ident)
        moved = changing.told(books.ledger, REQUESTS, row, data.status, time.time())
    return answers.answer(moved)


@delete("/requests/{ident:str}", sync_to_thread=True)
def drop_request(desk: TheDesk, ident: FromPath[str]) -> None:
    """Delete a request with its tasks and subtasks."""
    drop_row(desk, REQUESTS, ident)


# Tasks


@post("/tasks", sync_to_thread=True)
def add_task(desk: TheDesk, data: JSONBody[NewTask]) -> Answer:
    """Add a task to a request, in a wave if you like."""
    with desk.books() as books:
        made = work.add_task(
            books.ledger, time.time(), request=books.ledger.need(REQUESTS, data.request_id),
            name=data.name, status=data.status, key=data.key,
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
    wave_number: WaveFilter = None,
    status: Filter = None,
) -> Answer:
    """Tasks, the latest first."""
    with desk.books() as books:
        return listed(
            books, TASKS, "tasks", limit, page, session=session_id, project=project_id,
            request=request_id, wave_number=wave_number, status=status,
        )  # fmt: skip


@get("/tasks/{ident:str}", sync_to_thread=True)
def one_task(desk: TheDesk, ident: FromPath[str]) -> Answer:
    """One task."""
    return one_row(desk, TASKS, ident)


@patch("/tasks/{ident:str}", sync_to_thread=True)
def change_task(desk: TheDesk, ident: FromPath[str], data: JSONBody[ChangedTask]) -> Answer:
    """Say how far it is, or in which wave. Whoever calls it off calls off its subtasks."""
    if data.status is None and data.wave_number is None:
        raise BadUsage("nothing is said of this task", hint="send `status` or `wave_number`")
    with desk.books() as books:
        moved = changing.change_task(
            books.ledger, ident, time.time(), status=data.status or "", wave=data.wave_number
        )
    return answers.answer(moved)


@delete("/tasks/{ident:str}", sync_to_thread=True)
def drop_task(desk: TheDesk, ident: FromPath[str]) -> None:
    """Delete a task with its subtasks."""
    drop_row(desk, TASKS, ident)


def router() -> Router:
    return Router("/api", tags=["work"], route_handlers=[
        add_project, all_projects, project_by_path, one_project, drop_project, project_tree,
        add_request, all_requests, one_request, change_request, drop_request,
        add_task, all_tasks, one_task, change_task, drop_task,
    ])  # fmt: skip
