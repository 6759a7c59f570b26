"""The page about quality: every figure is decided or a dash with its reason."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from holdfast.demo import append_lines
from holdfast.services.compaction.recover import recover_session
from tests.contract.server.conftest import ApiClient
from tests.unit.transcript_lines import boundary, reply, summary, usage_line, user

HOSTILE = (
    "<script>document.title='pwned'</script><img src=x onerror=alert(1)> "
    "\x1b[31mred\x1b[0m \u202eevil\u202c {{ 7*7 }}"
)


@pytest.fixture
def open_page(sqlite_api: ApiClient) -> Any:
    def open_path(path: str) -> str:
        response = sqlite_api.client.get(path)
        assert response.status_code == 200, response.text
        assert "style-src 'self'" in response.headers["content-security-policy"]
        return str(response.text)

    return open_path


def add_sessions(api: ApiClient, folder: Path, count: int, text: str) -> None:
    with api.databases.connect() as db:
        for number in range(count):
            path = folder / f"s{number}.jsonl"
            turn = [
                user(f"Never touch {text}{number}."), reply("Done."), usage_line(90_000),
                boundary(trigger="auto", preTokens=90_000), summary(), user("Go on"), reply("On."),
            ]  # fmt: skip
            append_lines(str(path), [{**line, "sessionId": f"s{number}"} for line in turn])
            recover_session(db.store, str(path), 1_790_000_000.0)


def test_without_compactions_the_page_says_what_to_do_next(open_page: Any) -> None:
    assert "holdfast recover" in open_page("/quality")
    assert "No compaction is recorded yet" in open_page("/quality/compactions")


def test_compactions_are_measured_a_page_at_a_time(
    sqlite_api: ApiClient, open_page: Any, tmp_path: Path
) -> None:
    add_sessions(sqlite_api, tmp_path, 25, "migrations/")
    shell = open_page("/quality")
    assert "25 compactions" in shell
    assert 'data-load="/quality/compactions"' in shell
    assert "Holdfast has sent no brief yet" in shell
    first = open_page("/quality/compactions")
    assert first.count("<tr data-entry>") == 20
    assert 'rel="next" href="/quality/compactions?page=2"' in first
    assert "compactions 1 to 20 of 25" in first
    assert "Brief: Holdfast was not installed yet" in first
    second = open_page("/quality/compactions?page=2")
    assert second.count("<tr data-entry>") == 5
    assert 'rel="next"' not in second
    assert "There are no more compactions" in open_page("/quality/compactions?page=3")
    assert sqlite_api.client.get("/quality/compactions?page=0").status_code == 400


def test_hostile_text_stays_text(sqlite_api: ApiClient, open_page: Any, tmp_path: Path) -> None:
    add_sessions(sqlite_api, tmp_path, 1, f"{HOSTILE} {'x' * 1_000_000}")
    for path in ("/quality", "/quality/compactions"):
        page = open_page(path)
        assert "<script>document" not in page, path
        assert "<img" not in page, path
        assert "\x1b" not in page, path
        assert "\u202e" not in page, path
        assert "{{" not in page.replace("{{ 7*7 }}", ""), path
        assert len(page) < 100_000, path


def test_a_log_that_is_gone_is_told(sqlite_api: ApiClient, open_page: Any, tmp_path: Path) -> None:
    add_sessions(sqlite_api, tmp_path, 1, "migrations/")
    os.unlink(tmp_path / "s0.jsonl")
    page = open_page("/quality/compactions")
    assert ">–<" in page
    assert '<div class="n">0</div>' not in page, "nothing was counted"
