"""The pages Work and Conversations in a real browser, on a store that agents have filled."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from holdfast.conversations.manager import SessionManager
from holdfast.conversations.summarizers import Price
from holdfast.ledger import agents, messages, projects, work
from holdfast.ledger.connect import open_local_ledger
from holdfast.ledger.repository import Ledger
from holdfast.ledger.schema import SUBTASKS
from holdfast.ledger.status import set_status
from tests.process.serving import Server
from tests.unit.conversations.scripted_summarizer import LIMIT_TOKENS, ScriptedSummarizer, fill

WIDTHS = (375, 980, 1440)
HOSTILE = (
    "<script>document.title='pwned'</script> \x1b[31mred \u202eevil\u202c {{ 7*7 }} " + "x" * 900
)
SERIOUS = ("serious", "critical")
PRICE = Price(model="small-model", input=1.0, output=5.0, most_output=1000)

# Long, because test machines are busy.
expect.set_options(timeout=30_000)


class Site(NamedTuple):
    server: Server
    ledger: Ledger
    manager: SessionManager
    paths: list[str]
    blocker: str
    blocked: str


def add_work(ledger: Ledger, prompt: str) -> tuple[Any, list[Any]]:
    """Add a request with three waves; the task of the last one has many subtasks."""
    now = time.time()
    project = projects.ensure_project(ledger, "/home/dev/courier", now)
    request = work.add_request(ledger, now, project=project["id"], session="s1", prompt=prompt)
    names = ("Schema and migration", "Move exhausted jobs to the dead state", "Docs")
    tasks = [
        work.add_task(ledger, now, request=request, name=f"{name} {prompt[:20]}", wave_number=wave)
        for wave, name in enumerate(names)
    ]
    for number in range(12):
        work.add_subtask(ledger, now, task=tasks[2], description=f"Page {number} of {prompt[:40]}")
    return request, tasks


def add_agents(ledger: Ledger, project: str) -> None:
    now = time.time()
    for name, used in (("main", 148_000), ("backend", 190_000), (HOSTILE[:200], 20_000)):
        agents.record_agent(
            ledger, now, agent_id=f"{name}-1", agent_type=name, session="s1", project=project,
            used=used, capacity=200_000,
        )  # fmt: skip
    messages.block(ledger, "main-1", "backend-1", "needs the new state", now, project)
    for text in ("The column is there.", HOSTILE):
        messages.send(
            ledger, now, ident=f"m {text[:9]}", from_agent_id="backend-1", to_agent_id="main-1",
            topic=text[:60], payload={"text": text}, project=project,
        )  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("work") / "home"
    summarizer = ScriptedSummarizer(cost=PRICE, replies=[{"completed": ["Read the tickets"]}] * 9)
    with (
        SessionManager(home / "holdfast.db", limit=LIMIT_TOKENS, summarizer=summarizer) as manager,
        closing(open_local_ledger(str(home / "ledger.db")).database) as database,
    ):
        ledger = Ledger(database)
        request, tasks = add_work(ledger, "Set the state after the last attempt")
        add_work(ledger, HOSTILE)
        add_agents(ledger, request["project"])
        now = time.time()
        blocker = work.add_subtask(ledger, now, task=tasks[0], description="Change the loop")
        blocked = work.add_subtask(
            ledger, now, task=tasks[1], description="Keep the error", blocked_by=[blocker["id"]]
        )
        for name in ("support", HOSTILE):
            conversation = manager.get_or_create(name)
            fill(conversation, LIMIT_TOKENS)
            conversation.build_request()
            conversation.update_checkpoint(pending=["Ask finance"], blockers=[name])
        server = Server(home)
        rows = manager._store.all("conversations")
        paths = [
            "/work", f"/work?project={request['project']}", f"/work/requests/{request['id']}",
            f"/work/tasks/{tasks[2]['id']}", "/work/agents", "/work/messages", "/conversations",
            *(f"/conversations/{row['id']}" for row in rows),
            f"/conversations/{rows[0]['id']}?version=1",
        ]  # fmt: skip
        yield Site(server, ledger, manager, paths, blocker["id"], blocked["id"])
        server.stop()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that fails the test if it logs an error."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    opened = context.new_page()
    problems = collect_problems(opened)
    yield opened
    context.close()
    assert problems == []


def collect_problems(page: Page) -> list[str]:
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda line: problems.append(line.text) if line.type == "error" else None)
    return problems


def find_barriers(page: Page) -> list[tuple[str, list[str]]]:
    return [
        (violation["id"], [node["html"][:160] for node in violation["nodes"][:3]])
        for violation in Axe().run(page).response["violations"]
        if violation["impact"] in SERIOUS
    ]


def test_every_view_fits_its_window_in_both_themes(browser: Browser, site: Site) -> None:
    for width in WIDTHS:
        for theme in ("light", "dark"):
            context = browser.new_context(
                viewport={"width": width, "height": 900}, color_scheme=theme
            )
            opened = context.new_page()
            problems = collect_problems(opened)
            for path in site.paths:
                opened.goto(site.server.url + path)
                expect(opened.locator("main h1")).to_be_visible()
                overflow = opened.evaluate(
                    "document.documentElement.scrollWidth - document.documentElement.clientWidth"
                )
                assert overflow <= 0, (path, width, theme)
            context.close()
            assert problems == [], (width, theme)


def test_no_view_has_a_serious_barrier(browser: Browser, site: Site) -> None:
    for theme in ("light", "dark"):
        context = browser.new_context(color_scheme=theme)
        opened = context.new_page()
        for path in site.paths:
            opened.goto(site.server.url + path)
            expect(opened.locator("#live")).to_have_text("live")
            assert find_barriers(opened) == [], (path, theme)
        context.close()


def test_hostile_text_is_shown_and_never_run(page: Page, site: Site) -> None:
    for path in ("/work", "/work/messages", "/work/agents", "/conversations"):
        page.goto(site.server.url + path)
        expect(page.locator("main")).to_contain_text("<script>document.title='pwned'")
        html = page.content()
        assert "pwned" not in page.title(), path
        assert not set("\x1b\u202e") & set(html), path


def test_a_blocked_subtask_leads_to_what_it_waits_for(page: Page, site: Site) -> None:
    page.goto(f"{site.server.url}/work")
    blocked = page.locator(f"#subtask-{site.blocked}")
    expect(blocked).to_contain_text("waits for Change the loop")
    blocked.get_by_role("link", name="Change the loop").click()
    assert page.url.endswith(f"#subtask-{site.blocker}")
    expect(page.locator(f"#subtask-{site.blocker}")).to_be_in_viewport()
    columns = page.locator(f".waves:has(#subtask-{site.blocked}) > .wave")
    boxes = [columns.nth(number).bounding_box() for number in range(columns.count())]
    places = [(round(box["x"]), round(box["y"])) for box in boxes if box]
    assert len({x for x, _ in places}) == 3
    assert len({y for _, y in places}) == 1


def test_keys_reach_tasks_and_the_filter_chooses_a_project(page: Page, site: Site) -> None:
    page.goto(f"{site.server.url}/work")
    page.keyboard.press("j")
    expect(page.locator('[data-entry][aria-selected="true"]')).to_have_count(1)
    page.keyboard.press("Enter")
    page.wait_for_url("**/work/requests/*")
    page.goto(f"{site.server.url}/work")
    page.get_by_label("Project").select_option(label="courier")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**/work?project=*")
    expect(page.locator("main")).to_contain_text("/home/dev/courier")


def test_work_of_another_process_appears_by_itself(page: Page, site: Site) -> None:
    page.goto(f"{site.server.url}/work")
    expect(page.locator("#live")).to_have_text("live")
    row = site.ledger.require(SUBTASKS, site.blocker)
    set_status(site.ledger, SUBTASKS, row, "completed", time.time())
    expect(page.locator(f"#subtask-{site.blocked}")).to_contain_text("pending")
    set_status(site.ledger, SUBTASKS, row, "running", time.time())
    expect(page.locator(f"#subtask-{site.blocked}")).to_contain_text("waits for")


def test_events_of_a_conversation_appear_as_they_happen(page: Page, site: Site) -> None:
    conversation = site.manager.get_or_create("live one")
    conversation.add_message("user", "hello")
    page.goto(f"{site.server.url}/conversations")
    page.get_by_role("link", name="live one").click()
    expect(page.locator("#live")).to_have_text("live")
    expect(page.locator("#events")).to_contain_text("None yet")
    fill(conversation, int(LIMIT_TOKENS * 0.83))
    conversation.build_request()
    expect(page.locator("#events")).to_contain_text("left until a compaction")
    expect(page.locator("#status")).to_contain_text("nearly full")
    fill(conversation, LIMIT_TOKENS)
    conversation.build_request()
    expect(page.locator("#events")).to_contain_text("checkpoint 1 by scripted")
    expect(page.locator("#checkpoint")).to_contain_text("Read the tickets")
    conversation.update_checkpoint(completed=["Read the tickets", "Sorted them"])
    expect(page.locator("#checkpoint")).to_contain_text("Sorted them")
    page.get_by_role("navigation", name="Versions").get_by_role("link", name="1").click()
    page.wait_for_url("**?version=1#checkpoint")
    expect(page.locator("#checkpoint")).not_to_contain_text("Sorted them")


def test_empty_pages_say_what_to_do_next(page: Page, tmp_path: Path) -> None:
    server = Server(tmp_path / "home")
    page.goto(f"{server.url}/work")
    expect(page.locator("main")).to_contain_text("POST /api/requests")
    page.goto(f"{server.url}/conversations")
    expect(page.locator("main")).to_contain_text("SessionManager()")
    page.goto("about:blank")  # the server is stopped before the page is closed
    server.stop()
