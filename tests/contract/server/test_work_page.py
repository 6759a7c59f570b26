"""The pages about work: hierarchy, waves, blockers, agents, messages; bounded, and safe to show."""

from __future__ import annotations

import html
import re
import time
from typing import Any

import pytest

from holdfast.ledger import agents, board, messages, projects, work
from holdfast.ledger.schema import PROJECTS, REQUESTS, SUBTASKS, TASKS
from holdfast.server.databases import Databases
from holdfast.server.project_scope import ProjectDatabases
from holdfast.server.web import work as page
from tests.contract.server.conftest import ApiClient

HOSTILE = (
    "<script>alert(1)</script> \x1b[31mred\x1b[0m \u202eevil\u2066 \u200bhidden "
    "\"onload='x' javascript:alert(1)"
)
LONG_TEXT = "long " * 200_000
MAX_PAGE_BYTES = 1 << 20


def get_page(api: ApiClient, path: str, status: int = 200, **options: Any) -> str:
    response = api.client.get(path, **options)
    assert response.status_code == status, response.text[:500]
    assert response.headers["content-type"].startswith("text/html")
    assert "script-src 'self'" in response.headers["content-security-policy"]
    return response.text


def find_next(text: str) -> str:
    match = re.search(r'rel="next" href="([^"]+)"', text)
    return html.unescape(match[1]) if match else ""


def add_work(databases: Databases, path: str = "/p/shop", prompt: str = "Build the shop") -> Any:
    with databases.connect() as db:
        project = projects.ensure_project(db.ledger, path, time.time())
        return work.add_request(
            db.ledger, time.time(), project=project["id"], session=f"s {path}", prompt=prompt
        )


def add_task(databases: Databases, request: Any, name: str, wave: int = -1) -> Any:
    with databases.connect() as db:
        return work.add_task(db.ledger, time.time(), request=request, name=name, wave_number=wave)


def add_subtask(databases: Databases, task: Any, text: str, *blockers: str) -> str:
    with databases.connect() as db:
        row = work.add_subtask(
            db.ledger, time.time(), task=task, description=text, agent_type="backend",
            blocked_by=list(blockers),
        )  # fmt: skip
    return str(row["id"])


def test_requests_tasks_and_subtasks_are_shown_in_waves(api: ApiClient) -> None:
    request = add_work(api.databases)
    first = add_task(api.databases, request, "Schema", 0)
    second = add_task(api.databases, request, "Checkout", 1)
    blocker = add_subtask(api.databases, first, "Add the column")
    blocked = add_subtask(api.databases, second, "Use the column", blocker)
    text = get_page(api, "/work")
    places = [text.index(part) for part in ("Build the shop", "Wave 0", "Schema", "Wave 1",
                                            "Checkout", "Use the column")]  # fmt: skip
    assert places == sorted(places)
    assert f'id="subtask-{blocker}"' in text
    assert f'href="#subtask-{blocker}"' in text
    task_page = get_page(api, f"/work/tasks/{second['id']}")
    assert f'id="subtask-{blocked}"' in task_page
    (link,) = re.findall(rf'href="([^"]+)#subtask-{blocker}"', task_page)
    assert f'id="subtask-{blocker}"' in get_page(api, html.unescape(link))
    assert "Checkout" in get_page(api, f"/work/requests/{request['id']}")


def test_a_blocker_far_down_a_long_task_is_on_the_page_that_its_link_opens(api: ApiClient) -> None:
    request = add_work(api.databases)
    task = add_task(api.databases, request, "Long")
    idents = [
        add_subtask(api.databases, task, f"part {number}")
        for number in range(page.SUBTASKS_PER_PAGE + 20)
    ]
    other = add_task(api.databases, request, "Other")
    add_subtask(api.databases, other, "waits", idents[10])
    text = get_page(api, f"/work/tasks/{other['id']}")
    (link,) = re.findall(rf'href="([^"]+)#subtask-{idents[10]}"', text)
    shown = re.findall(r'id="subtask-([^"]+)"', get_page(api, html.unescape(link)))
    assert shown == idents[10::-1]


def test_a_project_can_be_chosen(api: ApiClient) -> None:
    shop = add_work(api.databases)
    add_work(api.databases, "/p/blog", "Write a post")
    text = get_page(api, "/work", params={"project": shop["project"]})
    assert "Build the shop" in text
    assert "Write a post" not in text
    assert "/p/shop" in text
    both = get_page(api, "/work", params={"project": ""})
    assert "Build the shop" in both
    assert "Write a post" in both
    get_page(api, "/work?project=unknown", 404)


def test_pages_list_every_request_once_and_the_newest_first(api: ApiClient) -> None:
    for number in range(2 * page.REQUESTS_PER_PAGE + 3):
        add_work(api.databases, prompt=f"request number {number};")
    numbers: list[int] = []
    path = "/work"
    while path:
        text = get_page(api, path)
        numbers += [int(one) for one in re.findall(r"request number (\d+);", text)]
        path = find_next(text)
    assert numbers == sorted(numbers, reverse=True)
    assert len(numbers) == 2 * page.REQUESTS_PER_PAGE + 3


def copy_rows(databases: Databases, table: Any, row: Any, count: int, **fields: Any) -> None:
    """Write many copies of a row, as a long history leaves them."""
    with databases.connect() as db, db.ledger.transaction():
        for number in range(count):
            changed = {name: make(number) for name, make in fields.items()}
            copy = {**row, "id": f"copy-{number:06}", "source": None, "retry": None, **changed}
            db.ledger.write(table, copy)


def test_ten_thousand_tasks_are_shown_a_page_at_a_time(sqlite_api: ApiClient) -> None:
    api = sqlite_api
    request = add_work(api.databases)
    task = add_task(api.databases, request, "first of all")
    copy_rows(
        api.databases, TASKS, task, 10_000,
        created_at=float, name=lambda number: f"copied task {number};",
    )  # fmt: skip
    text = get_page(api, "/work")
    assert text.count('class="task ') == page.TASKS_PER_REQUEST
    assert f"{10_001 - page.TASKS_PER_REQUEST:,} more tasks" in text
    assert "0 of 10,001 tasks completed" in text
    text = get_page(api, f"/work/requests/{request['id']}")
    assert text.count('class="task ') == page.TASKS_PER_PAGE
    older = get_page(api, find_next(text))
    first, second = (set(re.findall(r"copied task (\d+);", one)) for one in (text, older))
    assert not first & second
    assert len(second) == page.TASKS_PER_PAGE


def test_open_tasks_are_shown_before_settled_ones(api: ApiClient) -> None:
    request = add_work(api.databases)
    opened = add_task(api.databases, request, "still open")
    task = add_task(api.databases, request, "done")
    copy_rows(
        api.databases, TASKS, task, page.TASKS_PER_REQUEST + 5,
        status=lambda _: "completed", created_at=lambda number: opened["created_at"] + number,
    )  # fmt: skip
    assert "still open" in get_page(api, "/work")


@pytest.mark.parametrize("text", [HOSTILE, LONG_TEXT], ids=["hostile", "long"])
def test_hostile_text_in_any_field_is_shown_as_text(sqlite_api: ApiClient, text: str) -> None:
    api, now = sqlite_api, time.time()
    request = add_work(api.databases, f"/p/{text[:300]}", text)
    task = add_task(api.databases, request, text, 3)
    blocker = add_subtask(api.databases, task, text)
    add_subtask(api.databases, task, text, blocker)
    name = text[:400]
    with api.databases.connect() as db:
        ledger, project = db.ledger, request["project"]
        ledger.update(PROJECTS, ledger.require(PROJECTS, project), now, name=text)
        ledger.update(SUBTASKS, ledger.require(SUBTASKS, blocker), now, agent_type=text)
        agents.record_agent(
            ledger, now, agent_id=name, agent_type=text, project=project, session=name, used=10,
            status="running",
        )  # fmt: skip
        messages.block(ledger, name, "other", text, now, project)
        messages.send(
            ledger, now, ident="m1", from_agent_id=name, to_agent_id=name, topic=text,
            payload={"text": text}, project=project,
        )  # fmt: skip
        messages.send(ledger, now, ident="m2", from_agent_id=name, payload=[text])
    paths = (
        "/work", f"/work?project={project}", f"/work/requests/{request['id']}",
        f"/work/tasks/{task['id']}", "/work/agents", "/work/messages",
    )  # fmt: skip
    for path in paths:
        shown = get_page(api, path)
        assert "<script>alert" not in shown
        assert not set("\x1b\u202e\u2066\u200b") & set(shown)
        assert len(shown) < MAX_PAGE_BYTES
        if text is HOSTILE and "agents" not in path:
            assert "&lt;script&gt;alert(1)" in shown


def test_agents_and_messages_have_their_figures(api: ApiClient) -> None:
    now = time.time()
    with api.databases.connect() as db:
        for name, used in (("qa", 20_000), ("backend", 190_000)):
            agents.record_agent(
                db.ledger, now, agent_id=f"{name}-1", agent_type=name, session="s", used=used,
                capacity=200_000,
            )  # fmt: skip
        messages.block(db.ledger, "qa-1", "backend-1", "needs the schema", now)
        row = messages.send(
            db.ledger, now, ident="m1", from_agent_id="qa-1", to_agent_id="backend-1",
            topic="schema", payload={"text": "which column?"},
        )  # fmt: skip
        messages.send(db.ledger, now, ident="m2", from_agent_id="qa-1", payload={"text": "hello"})
        messages.mark_read(db.ledger, [row], "backend-1", now)
    for path in ("/work", "/work/agents"):
        text = get_page(api, path)
        assert 'class="zone-critical" width="95.0%"' in text
        assert 'href="#agent-backend-1"' in text
        assert "needs the schema" in text
    for path in ("/work", "/work/messages"):
        text = get_page(api, path)
        assert "which column?" in text
        assert ">read<" in text
        assert ">unread<" in text


def test_a_ledger_of_one_project_loads_only_its_work(databases: Databases) -> None:
    """The page refuses such tokens; this is what the routes below it would return."""
    shop, blog = add_work(databases), add_work(databases, "/p/blog", "Write a post")
    add_subtask(databases, add_task(databases, blog, "secret", 0), "hidden")
    with ProjectDatabases(databases, shop["project"]).connect() as db:
        shown, _ = page.load_requests(db.ledger, None, None)
        assert [view.row["prompt"] for view in shown] == ["Build the shop"]
        assert page.load_requests(db.ledger, None, blog["project"])[0] == []
        counts = board.count_by_status(db.ledger, TASKS, "request", [shop["id"], blog["id"]])
        assert counts == {}


def test_empty_pages_say_what_to_do_next(api: ApiClient) -> None:
    assert "POST /api/requests" in get_page(api, "/work")
    assert "POST /api/agents" in get_page(api, "/work/agents")
    assert "holdfast messages" in get_page(api, "/work/messages")
    request = add_work(api.databases)
    assert "POST /api/tasks" in get_page(api, f"/work/requests/{request['id']}")
    task = add_task(api.databases, request, "alone")
    assert "POST /api/subtasks" in get_page(api, f"/work/tasks/{task['id']}")
    get_page(api, "/work/requests/unknown", 404)
    get_page(api, "/work?page=nonsense", 400)
    with api.databases.connect() as db:
        assert db.ledger.count(REQUESTS) == 1
