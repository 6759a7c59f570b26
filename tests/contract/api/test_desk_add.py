"""Rows that the event loop writes itself: as durable as by a thread, or left to one."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Coroutine, Iterator
from contextlib import closing, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import psycopg
import pytest

from holdfast.ledger import contexts
from holdfast.ledger.batch import Fresh
from holdfast.ledger.tables import ACTIONS, CONTEXTS
from holdfast.surfaces.api import local_desk, pause
from holdfast.surfaces.api.desk import Desk
from holdfast.surfaces.api.local_desk import LocalDesk
from holdfast.surfaces.api.team_desk import TeamDesk
from holdfast.surfaces.api.writer import Writer
from tests.contract.api.conftest import desk_at
from tests.contract.api.test_writer import fresh, run, stored, together
from tests.postgres import cut_off

T = TypeVar("T")


def saved(text: str) -> Fresh:
    row, body = contexts.snapshot("s1", "", {"session_id": "s1", "text": text}, 5.0)
    return Fresh(
        CONTEXTS, CONTEXTS.encoded(row, role_context=body),
        lambda ledger: ledger.write(CONTEXTS, row), is_named_by_content=True,
    )  # fmt: skip


@pytest.fixture(autouse=True)
def no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow this machine is: nothing is slow by itself, and no pause is over by itself."""
    monkeypatch.setattr(pause, "SLOW", 600.0)
    monkeypatch.setattr(pause, "SECONDS", 600.0)


@pytest.fixture
def warm(desk: Desk) -> Desk:
    """One that was used before: whoever is first makes the file."""
    with desk.books() as books:
        books.ledger.last_change()
    return desk


def added(desk: Desk, *rows: Fresh) -> bool:
    return asyncio.run(desk.add(list(rows)))


def told(desk: Desk) -> list[tuple[str, str]]:
    with desk.books() as books:
        return [(one["kind"], one["record"]) for one in books.ledger.changes()]


@pytest.fixture
def no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    def written(*_: object) -> list[Any]:
        raise AssertionError("a thread was asked")

    monkeypatch.setattr(Writer, "_written", written)


def test_what_is_new_is_written_and_told_in_its_order(warm: Desk) -> None:
    mixed = [fresh("b"), fresh("a"), saved("one"), saved("two"), fresh("c")]
    assert added(warm, *mixed)
    assert stored(warm) == {"a", "b", "c"}
    assert told(warm) == [(row.table.name, row.stored["id"]) for row in mixed]
    with warm.books() as books:
        assert len({one["tx"] for one in books.ledger.changes()}) == 1
        kept = books.ledger.need(CONTEXTS, mixed[2].stored["id"])
    assert kept["role_context"] == {"session_id": "s1", "text": "one"}


def test_every_kind_of_value_arrives_as_it_was(warm: Desk) -> None:
    text = "é ∑ 😀 ? $1 %s :name ' \" \\ \n\t"
    row = fresh(
        "a", tool_name=text, input={"text": text}, output=None, exit_code=-1,
        duration_ms=2**40, created_at=1_760_000_000.123456,
    )  # fmt: skip
    assert added(warm, row)
    with warm.books() as books:
        assert books.ledger.need(ACTIONS, "a") == ACTIONS.decoded(row.stored)


def test_what_no_database_takes_is_replaced(warm: Desk) -> None:
    row = fresh("a", tool_name="half \ud83d of it")
    assert added(warm, row)
    with warm.books() as books:
        assert books.ledger.need(ACTIONS, "a")["tool_name"] == "half ? of it"


def test_a_snapshot_that_is_there_is_only_moved_on(warm: Desk) -> None:
    first = saved("one")
    later = first._replace(stored={**first.stored, "updated_at": 6.0})
    assert added(warm, first)
    assert added(warm, later, later)
    with warm.books() as books:
        (row,) = books.ledger.rows(CONTEXTS)
    assert (row["created_at"], row["updated_at"]) == (5.0, 6.0)


def test_if_one_is_there_already_a_thread_settles_it(warm: Desk) -> None:
    assert added(warm, fresh("known"))
    newer = fresh("known", tool_name="Write", updated_at=3.0)
    assert not added(warm, fresh("a"), newer)
    found = run(warm, together(fresh("a"), newer, fresh("b")))
    assert [row["tool_name"] for row in found] == ["Read", "Write", "Read"]
    assert stored(warm) == {"known", "a", "b"}
    assert added(warm, fresh("later")), "and nothing is wrong with the way itself"


def test_whoever_saves_needs_no_thread(warm: Desk, no_threads: None) -> None:
    async def job(writer: Writer) -> list[Any]:
        return [
            await asyncio.gather(*(writer.write(fresh(f"{turn}-{one}")) for one in range(40)))
            for turn in range(5)
        ]

    assert len(run(warm, job)) == 5
    assert len(stored(warm)) == 200


def test_a_row_that_cannot_be_written_is_nobody_else_s_trouble(
    warm: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pause, "SECONDS", 0.0)
    good, bad = run(warm, together(fresh("a"), fresh("b", tool_name=None)))
    assert good["id"] == "a"
    assert isinstance(bad, Exception)
    assert added(warm, fresh("later"))
    assert stored(warm) == {"a", "later"}


# SQLite


@pytest.fixture
def local(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LocalDesk]:
    made = desk_at("sqlite", request, tmp_path)
    assert isinstance(made, LocalDesk)
    with closing(made):
        yield made


@contextmanager
def writing(home: Path) -> Iterator[None]:
    """Another program that has begun to write."""
    with closing(sqlite3.connect(home / "ledger.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def test_a_file_that_is_not_there_yet_is_made_by_a_thread(local: LocalDesk) -> None:
    assert not added(local, fresh("a"))
    run(local, together(fresh("a")))
    assert added(local, fresh("b"))


def test_while_another_program_writes_the_loop_goes_on(local: LocalDesk, tmp_path: Path) -> None:
    run(local, together(fresh("first")))
    ticks: list[float] = []

    async def job(writer: Writer) -> list[Any]:
        waiting = asyncio.gather(writer.write(fresh("a")), writer.write(fresh("b")))
        with writing(tmp_path):
            while len(ticks) < 20:
                await asyncio.sleep(0.005)
                ticks.append(time.monotonic())
            assert not waiting.done()
        return await waiting

    run(local, job)
    assert stored(local) == {"first", "a", "b"}
    gaps = [later - earlier for earlier, later in pairwise(ticks)]
    assert max(gaps) < local_desk.BUSY_SECONDS / 2, "the loop did not wait with them"


def test_while_another_thread_writes_the_loop_does_not_wait(local: LocalDesk) -> None:
    run(local, together(fresh("first")))
    with local.books() as books, books.ledger.together():
        assert not added(local, fresh("a"))
    assert added(local, fresh("a"))


def test_a_slow_disk_is_for_a_thread(local: LocalDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    run(local, together(fresh("first")))
    monkeypatch.setattr(pause, "SLOW", -1.0)
    assert added(local, fresh("a"))
    assert added(local, fresh("b")), "one may be slow: the log was copied into the file"
    assert not added(local, fresh("c"))
    monkeypatch.setattr(pause, "SLOW", 600.0)
    local._pause._until = 0.0
    assert added(local, fresh("c")), "after a while it is tried again"
    assert added(local, fresh("d"))


def test_a_commit_that_fails_leaves_nothing_and_nobody_uses_that_connection_again(
    local: LocalDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(local, together(fresh("first")))
    assert added(local, fresh("a"))
    assert local._impatient is not None
    monkeypatch.setattr(local._impatient.database, "commit", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        added(local, fresh("b"))
    assert stored(local) == {"first", "a"}
    assert not added(local, fresh("b")), "for a while it is left to threads"
    local._pause._until = 0.0
    assert added(local, fresh("b")), "the gate is open again"


# PostgreSQL


@pytest.fixture
def team(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[TeamDesk]:
    made = desk_at("postgres", request, tmp_path)
    assert isinstance(made, TeamDesk)
    with closing(made):
        yield made


@contextmanager
def nobody_reads_actions(url: str) -> Iterator[threading.Event]:
    """Until the event is set."""
    locked, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        with psycopg.connect(url) as other:
            other.execute("LOCK TABLE actions IN ACCESS EXCLUSIVE MODE")
            locked.set()
            go_on.wait(30)

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        assert locked.wait(30)
        yield go_on
    finally:
        go_on.set()
        holder.join(30)


async def answered_after(go_on: threading.Event, work: Coroutine[Any, Any, T]) -> T:
    """What comes of it; until then the loop goes on."""
    waiting = asyncio.create_task(work)
    for _ in range(20):
        await asyncio.sleep(0.005)
    assert not waiting.done()
    go_on.set()
    return await waiting


def test_after_a_restart_of_the_database_rows_are_written_and_then_by_the_loop_again(
    team: TeamDesk, postgres_place: str
) -> None:
    assert added(team, fresh("a"))
    cut_off(postgres_place)
    assert run(team, together(fresh("b")))[0]["id"] == "b", "a thread has written it"
    assert not added(team, fresh("c")), "for a moment all is left to threads"
    team._pause._until = 0.0
    assert added(team, fresh("c")), "and then it is tried again"
    assert stored(team) == {"a", "b", "c"}


def test_more_than_fits_into_a_socket_goes_out_while_the_loop_goes_on(team: TeamDesk) -> None:
    rows = [fresh(f"a{number}", input="x" * 300_000) for number in range(60)]
    turns = 0

    async def job() -> bool:
        nonlocal turns
        sending = asyncio.create_task(team.add(rows))
        while not sending.done():
            await asyncio.sleep(0)
            turns += 1
        return await sending

    assert asyncio.run(job())
    assert turns > 1
    assert len(stored(team)) == 60


def test_a_sender_who_is_stopped_leaves_no_half_sent_connection(team: TeamDesk) -> None:
    assert added(team, fresh("a"))

    async def job() -> None:
        sending = asyncio.create_task(team.add([fresh("b", input="x" * 3_000_000)]))
        await asyncio.sleep(0)
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending

    asyncio.run(job())
    team._pause._until = 0.0
    assert added(team, fresh("c"))
    assert {"a", "c"} <= stored(team)


def test_a_database_that_does_not_answer_holds_up_nobody_else(
    team: TeamDesk, postgres_place: str
) -> None:
    assert added(team, fresh("a"))

    with nobody_reads_actions(postgres_place) as go_on:
        assert asyncio.run(answered_after(go_on, team.add([fresh("b")])))
    assert stored(team) == {"a", "b"}
