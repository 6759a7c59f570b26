"""A restore says what is known now, whoever wrote it and whatever was restored before."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast.actions import shared_restore
from holdfast.actions.remembered import Remembered
from holdfast.actions.shared_restore import MOST, Wanted, restored, restoring
from holdfast.ledger import agents, contexts, messages, waves, work
from holdfast.ledger.tables import TASKS
from holdfast.state.model import State
from holdfast.store.questions import answered
from holdfast.surfaces.api.desk import Books, Desk
from holdfast.surfaces.api.local_desk import LocalDesk
from holdfast.views.fitting import CUT
from tests.contract.api.conftest import a_state, desk_at

WANTED = Wanted("s1", "dev-1", "orchestrator")


@pytest.fixture
def other(desk: Desk, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    """Another server's way to the same database."""
    kind = "sqlite" if isinstance(desk, LocalDesk) else "postgres"
    with closing(desk_at(kind, request, tmp_path)) as made:
        yield made


def told(desk: Desk, wanted: Wanted = WANTED, now: float = 10.0) -> str:
    """What a thread says; what the event loop can tell, it tells in the same words."""
    with desk.books() as books:
        text = restored(books.store, books.ledger, wanted, now, desk.briefs)
    assert by_the_loop(desk, [wanted], now)[0] in (text, None)
    return text


def by_the_loop(
    desk: Desk, some: list[Wanted], now: float = 10.0, briefs: Remembered | None = None
) -> list[str | None]:
    work = [restoring(one, now, briefs or Remembered()) for one in some]
    return asyncio.run(answered(desk.ask, work))


def request_of(books: Books) -> dict[str, Any]:
    return work.add_request(
        books.ledger, 1.0, project="p", session="s1", prompt="x", prompt_type="user"
    )


def save(books: Books) -> None:
    contexts.save_snapshot(books.ledger, "s1", "p", {"context_summary": "the login"}, 2.0)


def task(books: Books) -> None:
    work.add_task(books.ledger, 2.0, request=request_of(books), name="the login", wave_number=0)


def subtask(books: Books) -> None:
    above = work.add_task(books.ledger, 2.0, request=request_of(books), name="x", wave_number=0)
    work.add_subtask(books.ledger, 2.0, task=above, description="the login")


def wave(books: Books) -> None:
    waves.create(books.ledger, "s1", 7, 2.0)


def message(books: Books) -> None:
    messages.send(
        books.ledger, 2.0, ident="m1", from_agent_id="a", to_agent_id="dev-1", topic="the login"
    )


def folded(books: Books, state: State, revision: int) -> None:
    books.store.save_session(
        session="s1", host="claude-code", project="/p", transcript="/t", cursor=None, state=state,
        revision=revision, now=2.0,
    )  # fmt: skip


def new_state(books: Books) -> None:
    folded(books, a_state("hello", "the login"), 1)


def snapshot(books: Books) -> None:
    books.store.add_snapshot("s1", "auto", a_state("hello", "the login"), 2.0)


WRITES = {
    save: "the login", task: "- the login (pending)", subtask: "- agent: the login (pending)",
    wave: "- Wave 7: pending (0 of 0 tasks)", message: "- a: the login",
    new_state: "the login", snapshot: "the login",
}  # fmt: skip


@pytest.mark.parametrize("write", WRITES)
def test_what_another_server_wrote_is_restored_at_once(desk: Desk, other: Desk, write: Any) -> None:
    with other.books() as books:
        contexts.save_snapshot(books.ledger, "s1", "p", {"trigger": "auto", "note": "first"}, 1.0)
        folded(books, a_state("hello"), 0)
    before = [told(desk), told(desk)]
    with other.books() as books:
        write(books)
    after = told(desk)
    assert before[0] == before[1]
    assert "first" in before[0]
    assert WRITES[write] not in before[0]
    assert WRITES[write] in after
    assert told(other) == after


def test_a_handoff_that_was_made_again_is_told(desk: Desk, other: Desk) -> None:
    agent = {
        "id": "a1", "type": "dev", "task": "x", "status": "completed", "line": 1, "result": "",
        "files": {}, "background": False, "call": "", "path": "", "answer_line": 1,
    }  # fmt: skip
    with other.books() as books:
        folded(books, a_state("hello", agents=[agent]), 0)
    found = []
    for number in (1, 2):
        with other.books() as books:
            books.store.add_handoff(
                "s1", agent="a1", agent_type="dev", task="x", line=1, status="ok", decision="",
                content={"context_summary": f"attempt {number}"}, raw="x", tokens_before=1,
                tokens_after=1, now=float(number),
            )  # fmt: skip
        found.append(told(desk))
    assert ["attempt 1" in found[0], "attempt 2" in found[1]] == [True, True]


def test_a_message_that_has_expired_is_not_told_again(desk: Desk) -> None:
    with desk.books() as books:
        message(books)
    assert "the login" in told(desk, now=10.0)
    assert told(desk, now=1e6) == ""


def test_for_whom_agents_of_the_session_wait_is_told(desk: Desk) -> None:
    with desk.books() as books:
        request_of(books)
        agents.seen(books.ledger, 1.0, agent_id="front", session="s1", project="p")
        agents.seen(books.ledger, 1.0, agent_id="front", session="s9", project="q")
        for who, project in (
            ("front", "p"),
            ("dev-1", ""),
            ("s1", "p"),
            ("front", "q"),
            ("x", "p"),
        ):
            messages.block(books.ledger, who, f"{who} of {project}", "needs it", 2.0, project)
    assert "## Agent Status\n" in told(desk)
    waits = [line for line in told(desk).splitlines() if " waits for " in line]
    assert sorted(waits) == [
        "- dev-1 waits for dev-1 of : needs it",
        "- front waits for front of p: needs it",
        "- s1 waits for s1 of p: needs it",
    ]
    with desk.books() as books:
        messages.unblock(books.ledger, "front", None, 3.0, "p")
    assert "- front waits" not in told(desk)


def test_a_task_that_is_done_is_not_told_again(desk: Desk, other: Desk) -> None:
    with desk.books() as books:
        above = request_of(books)
        made = work.add_task(books.ledger, 2.0, request=above, name="login", wave_number=0)
    assert "login" in told(desk)
    with other.books() as books:
        work.set_status(books.ledger, TASKS, made, "completed", 2.0)
    assert "login" not in told(desk)


@pytest.mark.parametrize(
    "wanted",
    [WANTED._replace(agent_type="developer"), WANTED._replace(tokens=60), Wanted("s2", "dev-1")],
)
def test_who_asks_for_something_else_is_told_something_else(desk: Desk, wanted: Wanted) -> None:
    said = {"context_summary": "login", "key_decisions": [f"decision {n}" for n in range(30)]}
    with desk.books() as books:
        contexts.save_snapshot(books.ledger, "s1", "p", said, 1.0)
    assert told(desk) != told(desk, wanted)


def test_the_same_again_is_not_made_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    with desk.books() as books:
        save(books)
        folded(books, a_state("hello"), 0)
    first = told(desk)

    def again(*_: object) -> str:
        raise AssertionError("made again")

    monkeypatch.setattr(shared_restore, "_made", again)
    assert told(desk) == first


def test_who_must_not_wait_is_told_at_once_or_not_at_all(desk: Desk) -> None:
    with desk.books() as books:
        save(books)
    (first,) = by_the_loop(desk, [WANTED])
    assert "the login" in str(first), "what callers saved is quickly told"
    with desk.books() as books:
        folded(books, a_state("hello"), 0)
    assert by_the_loop(desk, [WANTED]) == [None]
    made = told(desk)
    assert by_the_loop(desk, [WANTED], briefs=desk.briefs) == [made], "it was made before"


def test_large_snapshots_are_for_who_may_wait(desk: Desk) -> None:
    with desk.books() as books:
        save(books)
        large = {"context_summary": "x" * shared_restore.LARGE}
        contexts.save_snapshot(books.ledger, "s1", "p", large, 3.0)
    assert by_the_loop(desk, [WANTED]) == [None]
    assert "xxx" in told(desk)


def test_many_are_told_together_each_what_is_its_own(desk: Desk) -> None:
    with desk.books() as books:
        for number in range(5):
            said = {"context_summary": f"the work of s{number} é ' ? $1 %s :name"}
            contexts.save_snapshot(books.ledger, f"s{number}", "", said, 2.0)
        for write in (task, subtask, wave, message):
            write(books)
    some = [
        Wanted(f"s{number}", agent, "dev") for number in range(7) for agent in ("", "dev-1", "a")
    ]
    found = by_the_loop(desk, some)
    assert found == [told(desk, one) for one in some]
    assert len(set(found)) > 7
    assert ["the work of s3 é ' ? $1 %s :name" in str(text) for text in found[9:12]] == [True] * 3


def test_names_that_no_database_takes_are_asked_for_too(desk: Desk) -> None:
    assert told(desk, Wanted("half \ud83d", "of \0 it")) == ""


def test_mail_is_told_by_either_way_in_the_same_order_and_as_far(desk: Desk) -> None:
    with desk.books() as books:
        for number in range(MOST + 5):
            messages.send(
                books.ledger, 1.0 + number, ident=f"m{number}", from_agent_id=f"a{number}",
                to_agent_id="dev-1" if number % 2 else "", topic=f"t{number}", priority=number % 3,
            )  # fmt: skip
    text = told(desk, WANTED._replace(tokens=4000))
    assert "- a2: t2" in text
    assert CUT in text
