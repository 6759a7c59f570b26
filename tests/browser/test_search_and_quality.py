"""Search, palette and quality in a real browser, on sessions that real hooks saved."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from holdfast.server.web.rendering import has_vendor_file
from tests.browser.test_page import SERIOUS, WIDTHS, Site, page, site
from tests.golden.corpus import CORPUS
from tests.process.serving import Server
from tests.process.waiting import wait_until

__all__ = ["page", "site"]

RECOVER_TIMEOUT_SECONDS = 600
READ_OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
NEEDS_HTMX = pytest.mark.skipif(
    not has_vendor_file("htmx.js"), reason="npm was missing when Holdfast was installed"
)
NEEDS_CHARTS = pytest.mark.skipif(
    not has_vendor_file("uplot.js"), reason="npm was missing when Holdfast was installed"
)


@pytest.fixture
def url(site: Site) -> str:
    """The address of the server, when everything is indexed."""
    wait_until(
        lambda: all(
            site.server.get(f"/api/recall?q={word}&all_projects=true")["hits"]
            for word in ("jitter", "pwned")
        ),
        "the sessions are not indexed",
    )
    return site.server.url


def list_paths() -> list[str]:
    return [
        "/recall", "/recall?q=jitter", "/recall?q=pwned&kind=prompt", "/recall?q=zzzz",
        "/quality", "/quality/compactions",
    ]  # fmt: skip


def check_views(browser: Browser, url: str, paths: list[str]) -> None:
    """Open each view at each width in both themes: nothing overflows and nothing fails."""
    problems: list[str] = []
    for width, theme in product(WIDTHS, ("light", "dark")):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme)  # type: ignore[arg-type]
        opened = context.new_page()
        opened.on("pageerror", lambda error: problems.append(str(error)))
        opened.on(
            "console", lambda line: problems.append(line.text) if line.type == "error" else None
        )
        for path in paths:
            opened.goto(url + path, wait_until="networkidle")
            expect(opened.locator("main")).to_be_visible()
            assert opened.evaluate(READ_OVERFLOW) <= 0, (path, width, theme)
        context.close()
    assert problems == []


def test_every_view_fits_its_window_in_both_themes(browser: Browser, url: str) -> None:
    check_views(browser, url, list_paths())


def test_no_view_has_a_serious_barrier(page: Page, url: str) -> None:
    for path in list_paths():
        page.goto(url + path, wait_until="networkidle")
        found = Axe().run(page).response["violations"]
        serious = [
            (violation["id"], [node["html"][:120] for node in violation["nodes"][:3]])
            for violation in found
            if violation["impact"] in SERIOUS
        ]
        assert serious == [], path


@NEEDS_HTMX
def test_typing_and_filters_update_results_and_the_address(page: Page, url: str) -> None:
    page.goto(f"{url}/recall")
    field = page.get_by_label("Words")
    expect(field).to_be_focused()
    page.keyboard.type("jitter")
    expect(page.locator("#found mark").first).to_be_visible()
    expect(page).to_have_url(f"{url}/recall?q=jitter")
    expect(field).to_be_focused()
    before = page.locator("#found [data-entry]").count()
    page.get_by_label("Kind").select_option("prompt")
    expect(page).to_have_url(f"{url}/recall?q=jitter&kind=prompt")
    expect(page.locator("#found .tag", has_text=re.compile("call|reply"))).to_have_count(0)
    assert 0 < page.locator("#found [data-entry]").count() < before
    field.fill("zzzz")
    expect(page.locator("#found")).to_contain_text("Search without filters")
    page.reload()
    expect(page.get_by_label("Words")).to_have_value("zzzz")
    expect(page.get_by_label("Kind")).to_have_value("prompt")


@NEEDS_HTMX
def test_a_result_opens_its_source_beside_it_by_click_and_by_keys(page: Page, url: str) -> None:
    page.goto(f"{url}/recall?q=jitter")
    title = page.locator("#opened-title")
    first = title.text_content() or ""
    page.locator("#found [data-entry] a").nth(2).click()
    expect(title).not_to_have_text(first)
    expect(page).to_have_url(re.compile(r"&at="))
    expect(page.locator("#found [data-entry]").nth(2)).to_have_attribute("aria-current", "true")
    third = title.text_content() or ""
    page.locator("h1").click()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("#found [data-entry]").nth(3)).to_have_attribute("aria-current", "true")
    page.go_back()
    expect(title).to_have_text(third)
    page.go_back()
    expect(title).to_have_text(first)
    page.locator("#opened a.ref").first.click()
    expect(page.locator("#source")).to_be_visible()


def test_the_search_works_without_scripts(browser: Browser, url: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    opened = context.new_page()
    opened.goto(f"{url}/recall")
    opened.get_by_label("Words").fill("jitter")
    opened.get_by_role("button", name="Search", exact=True).click()
    expect(opened.locator("#found mark").first).to_be_visible()
    opened.locator("#found [data-entry] a").nth(1).click()
    expect(opened.locator("#found [data-entry]").nth(1)).to_have_attribute("aria-current", "true")
    opened.goto(f"{url}/quality")
    opened.get_by_role("link", name="What was lost and put back").click()
    expect(opened.locator("table.quality")).to_be_visible()
    context.close()


def test_the_palette_opens_by_keys_and_goes_where_the_arrows_point(page: Page, url: str) -> None:
    page.goto(f"{url}/sessions")
    page.keyboard.press("Control+k")
    options = page.locator("#palette [role=option]")
    expect(options.first).to_have_text(re.compile("Now"))
    page.keyboard.type("qual")
    expect(options.first).to_have_text(re.compile("Quality"))
    page.keyboard.press("Enter")
    page.wait_for_url(f"{url}/quality")
    page.keyboard.press("Control+k")
    page.keyboard.type("compaction 1")
    expect(options.first).to_have_text(re.compile("compaction 1 of"))
    expect(options.first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url("**/compactions/1")
    page.keyboard.press("Control+k")
    page.keyboard.type("full jitter")
    expect(options.last).to_have_text(re.compile("Search for “full jitter”"))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/recall?q=full+jitter**")
    expect(page.locator("#found mark").first).to_be_visible()


def test_hostile_text_is_found_and_never_run(page: Page, url: str) -> None:
    page.goto(f"{url}/recall?q={quote('pwned script')}")
    expect(page.locator("#found")).to_contain_text("<script>document.title='pwned'</script>")
    assert page.title() == "Recall · Holdfast"
    page.keyboard.press("Control+k")
    page.keyboard.type("pwned")
    expect(page.locator("#palette")).to_contain_text("<script>")
    assert page.title() == "Recall · Holdfast"
    html = page.content()
    assert "\x1b" not in html
    assert "\u202e" not in html


@NEEDS_CHARTS
def test_quality_shows_charts_and_loads_what_the_logs_say(page: Page, url: str) -> None:
    page.goto(f"{url}/quality")
    expect(page.locator(".stat").first).to_contain_text("1 of 1")
    expect(page.locator("table.quality [data-entry]")).to_have_count(1)
    expect(page.locator("table.quality .chip.ok")).to_have_text("whole")
    expect(page.locator(".chart canvas")).to_have_count(2)
    for chart in page.locator(".chart canvas").all():
        assert chart.evaluate(IS_DRAWN), "the canvas is not empty"
    page.get_by_text("as a table").last.click()
    expect(page.get_by_role("columnheader", name="put back by the brief")).to_be_visible()
    page.locator("table.quality a").first.click()
    page.wait_for_url("**/compactions/1")


IS_DRAWN = """canvas => canvas.getContext("2d")
  .getImageData(0, 0, canvas.width, canvas.height).data.some(value => value)"""


@pytest.fixture(scope="module")
def corpus_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with real sessions."""
    logs = sorted(CORPUS.glob("*spotter*.jsonl.gz"))
    if not logs:
        pytest.skip("the corpus of real sessions is not here")
    home: Path = tmp_path_factory.mktemp("home")
    subprocess.run(
        [sys.executable, "-m", "holdfast", "recover", *map(str, logs)],
        env={"HOLDFAST_HOME": str(home), "PATH": ""}, check=True, capture_output=True,
        timeout=RECOVER_TIMEOUT_SECONDS,
    )  # fmt: skip
    server = Server(home)
    yield server
    server.stop()


def test_real_sessions_are_shown_at_every_width(
    browser: Browser, page: Page, corpus_server: Server
) -> None:
    server = corpus_server
    wait_until(
        lambda: bool(server.get("/api/recall?q=test&all_projects=true")["hits"]),
        "the sessions are not indexed",
    )
    check_views(browser, server.url, ["/recall?q=test", "/quality/compactions"])
    page.goto(f"{server.url}/quality/compactions")
    rows = page.locator("table.quality [data-entry]")
    assert rows.count() >= 3
    expect(page.locator("table.quality .why").first).to_contain_text(
        "Holdfast was not installed yet"
    )
    expect(page.locator(".small-stats .stat").nth(1).locator(".n")).to_have_text("–")
