"""Group commit: fewer transactions, nobody answered too early, and nobody suffers for another."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from holdfast.errors import ServerBusy, StoreUnavailable
from holdfast.ledger.actions import action
from holdfast.ledger.batch import Fresh
from holdfast.ledger.ledger import Ledger, Row
from holdfast.ledger.tables import ACTIONS
from holdfast.surfaces.api.desk import Books, Desk
from holdfast.surfaces.api.team_desk import TeamDesk
from holdfast.surfaces.api.writer import Writer


def fresh(ident: str, **more: Any) -> Fresh:
    row = {**action(2.0, ident=ident, tool_name="Read"), **more}
    return Fresh(ACTIONS, ACTIONS.encoded(row), lambda ledger: ledger.write(ACTIONS, row))


class Watched(Desk):
    """Another desk, of which every commit is seen before it happens."""

    shown = "watched"

    def __init__(self, desk: Desk, committing: Callable[[], None]) -> None:
        self._desk = desk
        self._committing = committing

    @contextmanager
    def books(self) -> Iterator[Books]:
        with self._desk.books() as books:
            database: Any = books.ledger.database
            # On PostgreSQL the rows and their commit are sent together.
            name = "run_many" if database.dialect == "postgres" else "commit"
            really = getattr(database, name)

            def watched(*given: Any) -> Any:
                self._committing()
                return really(*given)

            setattr(database, name, watched)
            try:
                yield books
            finally:
                setattr(database, name, really)


def run(desk: Desk, job: Callable[[Writer], Coroutine[Any, Any, Any]]) -> Any:
    async def work() -> Any:
        with closing(Writer(desk)) as writer:
            return await asyncio.wait_for(job(writer), 30)

    return asyncio.run(work())


def together(*rows: Fresh) -> Callable[[Writer], Coroutine[Any, Any, list[Any]]]:
    async def job(writer: Writer) -> list[Any]:
        return await asyncio.gather(*map(writer.write, rows), return_exceptions=True)

    return job


def stored(desk: Desk) -> set[str]:
    with desk.books() as books:
        return {row["id"] for row in books.ledger.rows(ACTIONS)}


def test_rows_that_come_together_share_a_transaction(desk: Desk) -> None:
    commits: list[None] = []
    rows = [fresh(f"a{number}") for number in range(20)]
    found = run(Watched(desk, lambda: commits.append(None)), together(*rows))
    assert found == [row.stored for row in rows]
    assert stored(desk) == {f"a{number}" for number in range(20)}
    assert len(commits) == 1
    with desk.books() as books:
        told = books.ledger.changes()
    assert len(told) == 20
    assert len({one["tx"] for one in told}) == 1, "on PostgreSQL it is the transaction's number"


def test_nobody_is_answered_before_the_commit(desk: Desk) -> None:
    at_commit, go_on = threading.Event(), threading.Event()

    def committing() -> None:
        at_commit.set()
        go_on.wait(30)

    async def job(writer: Writer) -> tuple[bool, set[str]]:
        written = asyncio.create_task(writer.write(fresh("a")))
        await asyncio.to_thread(at_commit.wait, 30)
        early = written.done(), stored(desk)
        go_on.set()
        await written
        return early

    assert run(Watched(desk, committing), job) == (False, set())
    assert stored(desk) == {"a"}


def test_what_comes_while_others_are_written_is_written_next_and_in_one(desk: Desk) -> None:
    commits: list[None] = []
    first_is_there, go_on = threading.Event(), threading.Event()

    def committing() -> None:
        commits.append(None)
        first_is_there.set()
        go_on.wait(30)

    async def job(writer: Writer) -> None:
        first = asyncio.create_task(writer.write(fresh("first")))
        await asyncio.to_thread(first_is_there.wait, 30)
        rest = [asyncio.create_task(writer.write(fresh(f"a{number}"))) for number in range(9)]
        await asyncio.sleep(0)
        go_on.set()
        await asyncio.gather(first, *rest)

    run(Watched(desk, committing), job)
    assert len(stored(desk)) == 10
    assert len(commits) == 2


def test_a_row_that_cannot_be_written_fails_alone(desk: Desk) -> None:
    good, bad, other = run(desk, together(fresh("a"), fresh("b", tool_name=None), fresh("c")))
    assert (good["id"], other["id"]) == ("a", "c")
    assert isinstance(bad, StoreUnavailable)
    assert stored(desk) == {"a", "c"}


def test_a_bug_in_one_write_is_nobody_else_s(desk: Desk) -> None:
    def broken(_: Ledger) -> Row:
        raise ZeroDivisionError

    known = fresh("known")
    run(desk, together(known))
    good, bad = run(desk, together(fresh("a"), known._replace(alone=broken)))
    assert good["id"] == "a"
    assert isinstance(bad, ZeroDivisionError)


def test_a_row_that_is_known_already_is_met_and_the_others_are_added(desk: Desk) -> None:
    run(desk, together(fresh("known")))
    newer = fresh("known", tool_name="Write", updated_at=3.0)
    found = run(desk, together(fresh("a"), newer, fresh("b")))
    assert [row["tool_name"] for row in found] == ["Read", "Write", "Read"]
    assert stored(desk) == {"known", "a", "b"}


def test_if_the_store_is_gone_everybody_is_told_and_later_rows_are_written(desk: Desk) -> None:
    class Gone(Desk):
        shown = "gone"
        down = True
        asked = 0

        def books(self) -> Any:
            self.asked += 1
            if self.down:
                raise StoreUnavailable("it is being restarted")
            return desk.books()

    gone = Gone()

    async def job(writer: Writer) -> list[Any]:
        failed = await together(*(fresh(f"a{number}") for number in range(8)))(writer)
        gone.down = False
        return [*failed, await writer.write(fresh("later"))]

    *failed, later = run(gone, job)
    assert [type(one) for one in failed] == [StoreUnavailable] * 8
    assert gone.asked <= 3, "nobody waits for eight refusals, one after the other"
    assert later["id"] == "later"
    assert stored(desk) == {"later"}


def test_a_commit_that_fails_is_nobody_s_success(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> None:
        raise StoreUnavailable("the disk is full")

    class Full(Desk):
        shown = "full"

        @contextmanager
        def books(self) -> Iterator[Books]:
            with desk.books() as books:
                for name in ("run_many", "run") if isinstance(desk, TeamDesk) else ("commit",):
                    monkeypatch.setattr(books.ledger.database, name, failing)
                yield books

    found = run(Full(), together(fresh("a"), fresh("b")))
    monkeypatch.undo()
    assert [type(one) for one in found] == [StoreUnavailable] * 2
    assert stored(desk) == set()


@pytest.mark.parametrize("leaving", ["before", "during"])
def test_a_caller_who_leaves_disturbs_nobody(desk: Desk, leaving: str) -> None:
    async def job(writer: Writer) -> Row:
        impatient = asyncio.create_task(writer.write(fresh("a")))
        patient = asyncio.create_task(writer.write(fresh("b")))
        await asyncio.sleep(0)
        if leaving == "during":
            await asyncio.sleep(0)
        impatient.cancel()
        return await patient

    assert run(desk, job)["id"] == "b"
    assert "b" in stored(desk)


def test_after_the_end_nobody_waits_for_ever(desk: Desk) -> None:
    async def job(writer: Writer) -> list[Any]:
        writer.close()
        return [await together(fresh(name))(writer) for name in ("a", "b")]

    assert [type(one) for (one,) in run(desk, job)] == [ServerBusy] * 2
    assert stored(desk) == set()
