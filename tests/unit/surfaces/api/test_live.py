"""Live changes: everybody hears everything once, and a slow listener holds nobody up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast import settings
from holdfast.ledger.actions import add_action
from holdfast.surfaces.api import live as module
from holdfast.surfaces.api.desk import Desk, LocalDesk
from holdfast.surfaces.api.live import Live, place, read, written
from holdfast.surfaces.api.serving import Place


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = LocalDesk(settings.load({"HOLDFAST_HOME": str(tmp_path)}))
    yield made
    made.close()


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SECONDS", 0.01)


def happen(desk: Desk, *names: str) -> None:
    with desk.books() as books:
        for name in names:
            add_action(books.ledger, 1.0, tool_name="Read", ident=name)


async def heard(changes: AsyncIterator[dict[str, Any] | None], count: int) -> list[str]:
    found: list[str] = []
    async for change in changes:
        if change is not None:
            found.append(change["record"])
        if len(found) == count:
            break
    return found


def run(desk: Desk, job: Any) -> Any:
    async def work() -> Any:
        live = Live(desk)
        reading = asyncio.create_task(live.run())
        # The first look finds out what is old.
        await asyncio.sleep(0.05)
        try:
            told: Coroutine[Any, Any, Any] = job(live)
            return await asyncio.wait_for(told, 30)
        finally:
            live.close()
            await reading

    return asyncio.run(work())


def test_many_listeners_all_hear_everything_though_one_of_them_sleeps(desk: Desk) -> None:
    names = [f"a{number}" for number in range(20)]

    async def job(live: Live) -> list[list[str]]:
        asleep = live.changes(None)
        waiting = asyncio.ensure_future(anext(asleep))
        listeners = [asyncio.create_task(heard(live.changes(None), 20)) for _ in range(200)]
        await asyncio.sleep(0.05)
        await asyncio.to_thread(happen, desk, *names)
        found = await asyncio.gather(*listeners)
        first = await waiting
        assert first is not None
        assert first["record"] == "a0", "it is where it was, and can go on from there"
        return list(found)

    assert run(desk, job) == [names] * 200


def test_a_listener_goes_on_where_it_stopped_even_long_ago(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "KEPT", 3)
    names = [f"a{number}" for number in range(10)]

    async def job(live: Live) -> list[str]:
        await asyncio.to_thread(happen, desk, *names)
        await heard(live.changes((0, 0)), 10)
        with desk.books() as books:
            second = books.ledger.changes()[1]
        return await heard(live.changes(place(second)), 8)

    assert run(desk, job) == names[2:]


def test_what_happened_before_anybody_listened_is_not_news(desk: Desk) -> None:
    happen(desk, "old")

    async def job(live: Live) -> list[str]:
        listener = asyncio.create_task(heard(live.changes(None), 1))
        await asyncio.sleep(0.05)
        await asyncio.to_thread(happen, desk, "new")
        return await listener

    assert run(desk, job) == ["new"]


def test_whoever_hears_nothing_is_told_that_somebody_is_there(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "HEARTBEAT", 0.01)

    async def job(live: Live) -> Any:
        return await anext(live.changes(None))

    assert run(desk, job) is None


@pytest.mark.parametrize("word", ["", "x", "1", "1-", "-1", "1-x", "1-1-1", "9" * 50, "١-١x"])
def test_a_place_that_is_none_is_as_good_as_none(word: str) -> None:
    assert read(word) is None


def test_a_place_can_be_written_down_and_read_again() -> None:
    assert read(written({"tx": 7, "seq": 12})) == (7, 12)


@pytest.mark.parametrize(("host", "name"), [("10.0.0.7", "10.0.0.7"), ("fe80::1", "[fe80::1]")])
def test_an_address_that_is_listened_on_is_a_name_of_this_machine(host: str, name: str) -> None:
    place = Place(host=host, port=1, names=("holdfast.example",))
    assert {name, "holdfast.example", "127.0.0.1"} <= set(place.all_names)
    assert "0.0.0.0" not in Place(host="0.0.0.0", port=1).all_names
