"""Work: requests with their tasks in waves and their subtasks, agents, and messages."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from litestar import get
from litestar.response import Template

from holdfast.ledger import board
from holdfast.ledger.board import BoardRequest, BoardTask
from holdfast.ledger.repository import Ledger, Row
from holdfast.ledger.schema import NO_WAVE, PROJECTS, REQUESTS, SUBTASKS, TASKS
from holdfast.server import pagination
from holdfast.server.dependencies import CallerDatabases
from holdfast.server.requests import Cursor, ProjectFilter, RowId
from holdfast.server.web import rendering
from holdfast.server.web.agents import load_agents, load_messages

# How much one page shows. The rest of a request or a task is on a page of its own.
REQUESTS_PER_PAGE, TASKS_PER_REQUEST, SUBTASKS_PER_TASK = 15, 24, 6
TASKS_PER_PAGE, SUBTASKS_PER_PAGE = 100, 200
MAX_PROJECTS = 200
SHOWN_AGENTS, SHOWN_MESSAGES = 8, 8
MAX_BLOCKERS = 5
TITLE_CHARS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocker:
    """A subtask that another waits for, and the address where it is shown."""

    text: str
    status: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SubtaskView:
    row: Row
    blockers: list[Blocker]
    hidden_blockers: int
    """How many more it waits for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskView:
    row: Row
    subtasks: list[SubtaskView]
    total: int
    done: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """The tasks of one wave."""

    title: str
    wave: Row | None
    tasks: list[TaskView]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestView:
    row: Row
    project: str
    columns: list[Column]
    total: int
    done: int
    hidden: int
    """How many of its tasks are not shown."""


@get("/work", sync_to_thread=True)
def show_work(
    databases: CallerDatabases, page: Cursor = None, project: ProjectFilter = None
) -> Template:
    """Show the newest requests of all projects or of one, the agents and the messages."""
    now = time.time()
    with databases.connect() as db:
        ledger = db.ledger
        chosen = ledger.require(PROJECTS, project) if project else None
        projects = ledger.find(PROJECTS, limit=MAX_PROJECTS)
        requests, cursor = load_requests(ledger, page, project)
        agents, _ = load_agents(ledger, SHOWN_AGENTS, now, project=project)
        messages, _ = load_messages(ledger, SHOWN_MESSAGES, now, project=project)
    return rendering.render(
        "work.html", section="work", title="Work", projects=projects, chosen=chosen,
        requests=requests, agents=agents, messages=messages,
        agents_path=rendering.make_path("/work/agents", project=project),
        messages_path=rendering.make_path("/work/messages", project=project),
        next_path=rendering.make_next_path("/work", cursor, project=project),
    )  # fmt: skip


@get("/work/requests/{ident:str}", sync_to_thread=True)
def show_request(databases: CallerDatabases, ident: RowId, page: Cursor = None) -> Template:
    """Show one request with all its tasks, a page at a time."""
    with databases.connect() as db:
        ledger = db.ledger
        row = ledger.require(REQUESTS, ident)
        before = pagination.parse_cursor(page)
        rows = ledger.find(TASKS, limit=TASKS_PER_PAGE + 1, before=before, request=ident)
        kept, cursor = pagination.split_page(rows, TASKS_PER_PAGE, TASKS.order_column)
        tasks = board.add_subtasks(ledger, kept[::-1], SUBTASKS_PER_TASK)
        counts = board.count_by_status(ledger, TASKS, "request", [ident])
        request = BoardRequest(row=row, tasks=tasks, counts=counts.get(ident, {}))
        (view,) = to_views(ledger, [request])
    return rendering.render(
        "work_request.html", section="work", title=shorten(row["prompt"]) or "Request",
        crumbs=list_crumbs(row, view.project), view=view,
        next_path=rendering.make_next_path(f"/work/requests/{ident}", cursor),
    )  # fmt: skip


@get("/work/tasks/{ident:str}", sync_to_thread=True)
def show_task(databases: CallerDatabases, ident: RowId, page: Cursor = None) -> Template:
    """Show one task with all its subtasks, the newest first."""
    with databases.connect() as db:
        ledger = db.ledger
        row = ledger.require(TASKS, ident)
        before = pagination.parse_cursor(page)
        rows = ledger.find(SUBTASKS, limit=SUBTASKS_PER_PAGE + 1, before=before, task=ident)
        kept, cursor = pagination.split_page(rows, SUBTASKS_PER_PAGE, SUBTASKS.order_column)
        counts = board.count_by_status(ledger, SUBTASKS, "task", [ident]).get(ident, {})
        blockers = find_blockers(ledger, kept)
        request = ledger.get(REQUESTS, row["request"])
        names = find_project_names(ledger, [row])
    task = make_task(BoardTask(row=row, subtasks=kept, counts=counts), blockers)
    crumbs = list_crumbs(row, names.get(row["project"], ""))
    if request:
        title = shorten(request["prompt"]) or "Request"
        crumbs.append((title, f"/work/requests/{request['id']}"))
    return rendering.render(
        "work_task.html", section="work", title=shorten(row["name"]) or "Task", crumbs=crumbs,
        task=task,
        next_path=rendering.make_next_path(f"/work/tasks/{ident}", cursor),
    )  # fmt: skip


def load_requests(
    ledger: Ledger, page: str | None, project: str | None
) -> tuple[list[RequestView], str | None]:
    """Return a page of requests, the newest first, and the cursor of the next one."""
    found = board.load_requests(
        ledger, REQUESTS_PER_PAGE + 1, before=pagination.parse_cursor(page),
        max_tasks=TASKS_PER_REQUEST, max_subtasks=SUBTASKS_PER_TASK,
        **({"project": project} if project else {}),
    )  # fmt: skip
    kept = found[:REQUESTS_PER_PAGE]
    has_more = len(found) > len(kept)
    cursor = pagination.to_cursor(kept[-1].row, REQUESTS.order_column) if has_more else None
    return to_views(ledger, kept), cursor


def to_views(ledger: Ledger, requests: Sequence[BoardRequest]) -> list[RequestView]:
    """Return requests as they are shown: their tasks in columns, with links to blockers."""
    tasks = [task for request in requests for task in request.tasks]
    waves = board.find_waves(ledger, [task.row for task in tasks])
    blockers = find_blockers(ledger, [row for task in tasks for row in task.subtasks])
    names = find_project_names(ledger, [request.row for request in requests])
    return [
        RequestView(
            row=request.row,
            project=names.get(request.row["project"], ""),
            columns=to_columns([make_task(task, blockers) for task in request.tasks], waves),
            total=sum(request.counts.values()),
            done=request.counts.get("completed", 0),
            hidden=max(0, sum(request.counts.values()) - len(request.tasks)),
        )
        for request in requests
    ]


def to_columns(tasks: Iterable[TaskView], waves: dict[tuple[str, int], Row]) -> list[Column]:
    """Return one column for each wave, in order; tasks without a wave come last."""
    by_wave: dict[int, list[TaskView]] = {}
    for task in tasks:
        by_wave.setdefault(task.row["wave_number"], []).append(task)
    numbers = sorted(by_wave, key=lambda number: (number == NO_WAVE, number))
    return [
        Column(
            title="Tasks" if numbers == [NO_WAVE] else "No wave" if number == NO_WAVE
            else f"Wave {number}",
            wave=waves.get((by_wave[number][0].row["session"], number)),
            tasks=by_wave[number],
        )
        for number in numbers
    ]  # fmt: skip


def make_task(task: BoardTask, blockers: dict[str, Blocker]) -> TaskView:
    return TaskView(
        row=task.row,
        subtasks=[make_subtask(row, blockers) for row in task.subtasks],
        total=sum(task.counts.values()),
        done=task.counts.get("completed", 0),
    )


def make_subtask(row: Row, blockers: dict[str, Blocker]) -> SubtaskView:
    """Return a subtask with what it waits for; one that is not blocked waits for nothing."""
    needed = row["blocked_by"] if row["status"] == "blocked" else []
    known = [blockers[ident] for ident in needed if ident in blockers]
    hidden = max(0, len(known) - MAX_BLOCKERS)
    return SubtaskView(row=row, blockers=known[:MAX_BLOCKERS], hidden_blockers=hidden)


def find_blockers(ledger: Ledger, shown: Sequence[Row]) -> dict[str, Blocker]:
    """Return what the shown subtasks wait for, by id: a link to its place on this page, or to the
    page of its task that begins with it.
    """
    on_page = {row["id"] for row in shown}
    return {
        ident: Blocker(
            text=row["description"],
            status=row["status"],
            path=f"#subtask-{ident}" if ident in on_page else make_subtask_path(row),
        )
        for ident, row in board.find_blockers(ledger, shown).items()
    }


def make_subtask_path(row: Row) -> str:
    # The character after the id makes a page that ends before this place begin with the row itself.
    start = {**row, "id": f"{row['id']}~"}
    cursor = pagination.to_cursor(start, SUBTASKS.order_column)
    page = rendering.make_path(f"/work/tasks/{row['task']}", page=cursor)
    return f"{page}#subtask-{row['id']}"


def find_project_names(ledger: Ledger, rows: Iterable[Row]) -> dict[str, str]:
    idents = {row["project"] for row in rows if row["project"]}
    return {row["id"]: row["name"] for row in ledger.find_in(PROJECTS, "id", idents)}


def list_crumbs(row: Row, project: str) -> list[tuple[str, str]]:
    """Return the pages above a request or a task: all work, and that of its project."""
    crumbs = [("Work", "/work")]
    if project:
        crumbs.append((project, rendering.make_path("/work", project=row["project"])))
    return crumbs


def shorten(text: str) -> str:
    """Return the beginning of a text on one line, for a title."""
    words = " ".join(text[: 4 * TITLE_CHARS].split())
    return words if len(words) <= TITLE_CHARS else f"{words[:TITLE_CHARS]}…"
