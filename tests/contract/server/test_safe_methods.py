"""GET, HEAD and OPTIONS change nothing in any database."""

from __future__ import annotations

import asyncio

import pytest

from holdfast.server.databases import Databases
from holdfast.server.event_feed import EventFeed
from holdfast.server.routes import events
from tests.contract.server.conftest import ApiClient
from tests.contract.server.test_project_tokens import CASES, PUBLIC, fill_in, fill_project

# The names of all tables, for each kind of database.
LIST_TABLES = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table'",
    "postgres": "SELECT table_name AS name FROM information_schema.tables "
    "WHERE table_schema = current_schema()",
}
GET_PATHS = {
    name.removeprefix("GET ").replace(":str", "").replace(":int", ""): case.path
    for name, case in CASES.items()
    if name.startswith("GET ")
}
PAGE_FILES = [name.removeprefix("GET ") for name in PUBLIC if "{" not in name]
STREAM = "/api/events"
TIMEOUT_SECONDS = 60


def read_all(databases: Databases) -> dict[str, list[str]]:
    """Return the content of every table, by its name."""
    content = {}
    with databases.connect() as db:
        for database in (db.ledger.database, db.store.database):
            for row in database.run(LIST_TABLES[database.dialect])[0]:
                rows = database.run(f'SELECT * FROM "{row["name"]}"')[0]
                content[f"{database.path}:{row['name']}"] = sorted(map(repr, rows))
    return content


@pytest.fixture
def names(databases: Databases) -> dict[str, str]:
    """The ids of the rows of a project that has one row of each kind."""
    with databases.connect() as db:
        return fill_project(db, "/srv/ours", "plum")


def list_urls(api: ApiClient, names: dict[str, str]) -> list[str]:
    """Return the address of every documented GET request, with all its switches off and on."""
    urls = []
    paths = api.get("/openapi/openapi.json")["paths"]
    for path, operations in paths.items():
        if "get" not in operations or path == STREAM:
            continue
        url = fill_in(GET_PATHS.get(path, path), names)
        urls.append(url)
        switches = [
            parameter["name"]
            for parameter in operations["get"]["parameters"]
            if parameter["schema"].get("type") == "boolean"
        ]
        urls += [f"{url}{'&' if '?' in url else '?'}{name}=true" for name in switches]
    return [*urls, *PAGE_FILES]


def test_no_get_request_changes_a_database(api: ApiClient, names: dict[str, str]) -> None:
    urls = list_urls(api, names)
    assert len(urls) > len(GET_PATHS)
    before = read_all(api.databases)
    assert len(before) > 10
    failed = set()
    for url in urls:
        for method in ("GET", "HEAD", "OPTIONS"):
            if api.client.request(method, url).status_code >= 400:
                failed.add(url)
            assert read_all(api.databases) == before, (method, url)
    # A refused request proves nothing. The session here has no transcript to open a line of.
    assert failed == {f"/api/recall/{names['session']}:L1"}


def test_no_get_request_renews_or_changes_the_token_of_the_page(
    api: ApiClient, names: dict[str, str]
) -> None:
    assert api.client.post("/docs/session").status_code == 204
    before = read_all(api.databases)
    for url in list_urls(api, names):
        api.client.get(url)
        assert read_all(api.databases) == before, url


def test_reading_events_changes_nothing(databases: Databases, names: dict[str, str]) -> None:
    async def is_valid() -> bool:
        return True

    async def read_first_lines(feed: EventFeed) -> bytes:
        start = await feed.find_start(None)
        subscriber = events.Subscriber(None, None, is_valid)
        async for chunk in events._render_stream(feed, start, subscriber):
            return chunk
        return b""

    async def read_while_the_feed_runs() -> None:
        feed = EventFeed(databases)
        task = asyncio.create_task(feed.run())
        while not feed.to_event_id((0, 0)).removeprefix("0-0-"):
            await asyncio.sleep(0)
        before = read_all(databases)
        assert b"listening" in await read_first_lines(feed)
        assert read_all(databases) == before
        feed.close()
        await task

    asyncio.run(asyncio.wait_for(read_while_the_feed_runs(), TIMEOUT_SECONDS))
