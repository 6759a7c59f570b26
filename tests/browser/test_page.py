"""The page in a real browser, on sessions that real hooks saved."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.process.conftest import start
from tests.process.hook_session import HookSession
from tests.process.serving import Server, Start
from tests.unit.transcript_lines import bash, reply, user

__all__ = ["start"]

WIDTHS = (375, 980, 1440)
HOSTILE = (
    "<script>document.title='pwned'</script><img src=x onerror=alert(1)> \x1b[31mred\x1b[0m "
    "\u202eevil\u202c </textarea>{{ 7*7 }}"
)
SERIOUS = ("serious", "critical")

# Long, because test machines are busy.
expect.set_options(timeout=30_000)


class Site(NamedTuple):
    """A server with two sessions: the demo's, which was compacted, and a hostile one."""

    server: Server
    session: HookSession
    hostile: HookSession


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    root = tmp_path_factory.mktemp("site")
    session = HookSession(root=root)
    brief = session.run_until_compacted().brief
    attached = session.demo.hook_attachment(brief)
    session.write(session.demo.after(attached, transcript_path=str(session.transcript)))
    session.run_hook("Stop")
    hostile = HookSession(root=root, session_id="h1")
    hostile.write([
        user(f"Never print {HOSTILE}"),
        reply(f"I decided to use {HOSTILE} because it works."),
        *bash(f"make {HOSTILE}", f"{HOSTILE}\nE   assert {'x' * 1_000_000}", ok=False),
        user(f"Go on {HOSTILE}"),
    ])  # fmt: skip
    hostile.run_hook("Stop")
    server = Server(session.home)
    yield Site(server, session, hostile)
    server.stop()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that fails the test if it logs an error or loads anything from elsewhere."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    opened = context.new_page()
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda line: problems.append(line.text) if line.type == "error" else None)
    yield opened
    context.close()
    assert problems == []


def list_paths(site: Site) -> list[str]:
    session = f"/sessions/{site.session.session_id}"
    return [
        "/", "/sessions", session, f"{session}/chart", f"{session}/timeline",
        f"{session}/snapshots", f"{session}/lines/12", f"{session}/compactions/1",
        f"/sessions/{site.hostile.session_id}",
    ]  # fmt: skip


def test_every_view_fits_its_window_in_both_themes(browser: Browser, site: Site) -> None:
    for width in WIDTHS:
        for theme in ("light", "dark"):
            context = browser.new_context(
                viewport={"width": width, "height": 900}, color_scheme=theme
            )
            opened = context.new_page()
            for path in list_paths(site):
                opened.goto(site.server.url + path)
                expect(opened.locator("main")).to_be_visible()
                overflow = opened.evaluate(
                    "document.documentElement.scrollWidth - document.documentElement.clientWidth"
                )
                assert overflow <= 0, (path, width, theme)
            context.close()


def test_no_view_has_a_serious_barrier(page: Page, site: Site) -> None:
    for path in list_paths(site):
        page.goto(site.server.url + path)
        page.wait_for_load_state("networkidle") if path != "/" else None
        found = Axe().run(page).response["violations"]
        serious = [
            (violation["id"], [node["html"][:120] for node in violation["nodes"][:3]])
            for violation in found
            if violation["impact"] in SERIOUS
        ]
        assert serious == [], path


def test_text_of_a_log_is_shown_and_never_run(page: Page, site: Site) -> None:
    for path in ("/", "/sessions", "/sessions/h1", "/sessions/h1/timeline", "/sessions/h1/lines/3"):
        page.goto(site.server.url + path)
        expect(page.locator("main")).to_contain_text("<script>document.title='pwned'</script>")
        assert "pwned" not in page.title().split(" · ")[-1]
        html = page.content()
        assert "\x1b" not in html, path
        assert "\u202e" not in html, path
        assert "{{ 7*7 }}" in page.inner_text("main"), path
        assert len(html) < 400_000, path


def test_a_hook_in_another_process_updates_the_page(page: Page, site: Site) -> None:
    page.goto(f"{site.server.url}/")
    expect(page.locator("#live")).to_have_text("live")
    live = HookSession(root=site.session.root, session_id="live1")
    live.write([user("Paint the shed green, and nothing else."), reply("I start with the door.")])
    live.run_hook("Stop")
    expect(page.locator("main")).to_contain_text("Paint the shed green")
    assert page.evaluate("performance.getEntriesByType('navigation').length") == 1


def test_the_compaction_view_counts_and_colours_what_became_of_each_thing(
    page: Page, site: Site
) -> None:
    page.goto(f"{site.server.url}/sessions/s1/compactions/1")
    expect(page.locator("h1")).to_contain_text("Compaction 1 of")
    expect(page.locator(".chip.ok")).to_have_text("brief arrived whole, once")
    tags = {tag: page.locator(f".item .tag.{tag}").count() for tag in ("kept", "restored")}
    legend = page.locator(".legend").first.inner_text()
    assert f"{tags['kept']} kept by the summary" in legend
    assert f"{tags['restored']} put back by the brief" in legend
    expect(page.locator("#brief-text mark.restored").first).to_be_visible()
    expect(page.locator(".stat")).to_have_count(5)


def test_the_brief_is_shown_for_another_role_and_budget(page: Page, site: Site) -> None:
    page.goto(f"{site.server.url}/sessions/s1/compactions/1")
    before = page.locator("#brief-text").inner_text()
    page.locator('input[name="tokens"]').fill("400")
    page.locator('input[name="tokens"]').blur()
    expect(page.locator("#brief-text")).not_to_have_text(before)
    page.locator('select[name="role"]').select_option("orchestrator")
    expect(page.locator("#brief-panel h2")).to_have_text("The brief, built again")
    assert len(page.locator("#brief-text").inner_text()) < len(before)


def test_a_reference_opens_its_source_lines(page: Page, site: Site) -> None:
    page.goto(f"{site.server.url}/sessions/s1/compactions/1")
    reference = page.locator("a.ref").first
    line = reference.inner_text()
    reference.click()
    expect(page.locator("#source")).to_be_visible()
    expect(page.locator("#source")).to_contain_text(f"Line {line.removeprefix('L')}")
    page.keyboard.press("Escape")
    expect(page.locator("#source")).to_be_hidden()


def test_keys_move_through_entries_and_show_help(page: Page, site: Site) -> None:
    page.goto(f"{site.server.url}/sessions")
    page.keyboard.press("j")
    expect(page.locator('[data-entry][aria-selected="true"]')).to_have_count(1)
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    page.wait_for_url("**/sessions/*")
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("n")
    page.wait_for_url(f"{site.server.url}/")


def test_a_session_is_saved_and_gets_a_note_from_its_page(page: Page, site: Site) -> None:
    notes = Path(site.session.demo.project_dir, ".holdfast")
    notes.mkdir(parents=True, exist_ok=True)
    page.goto(f"{site.server.url}/sessions/s1")
    page.get_by_role("button", name="Save now").click()
    expect(page.get_by_role("button", name="Saved")).to_be_visible()
    page.get_by_role("button", name="Add a note").click()
    page.locator("#note textarea").fill("The cap is thirty seconds.")
    page.locator("#note select").select_option("decision")
    page.locator("#note").get_by_role("button", name="Add").click()
    expect(page.locator("#note")).to_be_hidden()
    assert "The cap is thirty seconds." in (notes / "sessions" / "s1" / "notes.md").read_text()


def test_the_page_follows_a_restarted_server(
    browser: Browser, tmp_path: Path, start: Start
) -> None:
    server = start(tmp_path / "home")
    port = server.port
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{server.url}/")
    expect(page.locator("#live")).to_have_text("live")
    server.stop()
    expect(page.locator("#live")).to_have_text("not live")
    again = start(tmp_path / "home", "--port", str(port))
    expect(page.locator("#live")).to_have_text("live")
    session = HookSession(root=tmp_path, session_id="after")
    session.write([user("Water the plants twice a week.")])
    session.run_hook("Stop")
    expect(page.locator("main")).to_contain_text("Water the plants")
    again.stop()
    context.close()


def test_an_empty_store_says_what_to_do_next(page: Page, tmp_path: Path, start: Start) -> None:
    server = start(tmp_path / "home")
    page.goto(f"{server.url}/")
    expect(page.locator("main")).to_contain_text("holdfast install")
    page.goto(f"{server.url}/sessions")
    expect(page.locator("main")).to_contain_text("holdfast recover")
    page.goto("about:blank")  # the server is stopped before the page is closed
