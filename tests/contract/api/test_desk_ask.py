"""Questions that the event loop has answered itself: as by a thread, or left to one."""

from __future__ import annotations

import asyncio
from contextlib import closing
from typing import TYPE_CHECKING

import psycopg
import pytest

from holdfast.errors import NotNow
from holdfast.ledger.tables import ACTIONS
from holdfast.store.questions import Question
from holdfast.surfaces.api import pause
from tests.contract.api.conftest import desk_at
from tests.contract.api.test_desk_add import answered_after, nobody_reads_actions, team
from tests.contract.api.test_quick import restores
from tests.contract.api.test_writer import fresh, run, together
from tests.postgres import cut_off

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.store.questions import Rows
    from holdfast.surfaces.api.desk import Desk
    from holdfast.surfaces.api.team_desk import TeamDesk

__all__ = ["team"]
ONE = Question("SELECT * FROM actions WHERE id = :id", {"id": "a"})


@pytest.fixture(autouse=True)
def no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pause, "SLOW", 600.0)
    monkeypatch.setattr(pause, "SECONDS", 600.0)


def asked(desk: Desk, *questions: Question) -> list[Rows]:
    return asyncio.run(desk.ask([*questions]))


def test_every_kind_of_value_comes_back_as_a_thread_reads_it(desk: Desk) -> None:
    text = "é ∑ 😀 ? $1 %s :name ' \" \\ \n\t"
    row = fresh(
        "a", tool_name=text, input={"text": text}, output=None, exit_code=-1,
        duration_ms=2**40, created_at=1_760_000_000.123456,
    )  # fmt: skip
    run(desk, together(row, fresh("b", exit_code=None)))
    both = Question("SELECT * FROM actions WHERE created_at > :at ORDER BY id", {"at": 0.5})
    sessions = Question("SELECT id FROM sessions WHERE id = :id", {"id": text}, is_ledgers=False)
    one, none, some = asked(desk, ONE, sessions, both)
    assert (one, none) == ([row.stored], [])
    assert [found["id"] for found in some] == ["a", "b"]
    assert (some[0]["exit_code"], some[1]["exit_code"]) == (-1, None)
    with desk.books() as books:
        assert books.ledger.rows(ACTIONS, id="a") == [ACTIONS.decoded(one[0])]


def test_files_that_are_not_there_yet_are_for_a_thread(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    with closing(desk_at("sqlite", request, tmp_path)) as local:
        with pytest.raises(NotNow):
            asked(local, ONE)
        with local.books():
            pass
        assert asked(local, ONE) == [[]]


def test_after_a_restart_of_the_database_restores_are_told_and_then_by_the_loop_again(
    team: TeamDesk, postgres_place: str
) -> None:
    assert asked(team, ONE) == [[]]
    cut_off(postgres_place)
    assert restores(team, "s1") == [(200, {"additionalContext": ""})], "by a thread"
    with pytest.raises(NotNow):
        asked(team, ONE)
    team._pause._until = 0.0
    assert asked(team, ONE) == [[]], "it is tried again"


@pytest.mark.parametrize(
    "broken",
    [
        Question("SELECT * FROM nothing_of_the_kind", {}),
        Question("SELECT 1 / :by AS n", {"by": 0}),
        Question("SELECT now() AS type_that_is_not_stored_here", {}),
    ],
)
def test_a_question_that_fails_leaves_nothing_behind(team: TeamDesk, broken: Question) -> None:
    run(team, together(fresh("a")))
    with pytest.raises(Exception, match=r".") as found:
        asked(team, ONE, broken, ONE)
    assert isinstance(found.value, psycopg.Error | KeyError)
    team._pause._until = 0.0
    assert [[row["id"] for row in rows] for rows in asked(team, ONE, ONE)] == [["a"], ["a"]]


def test_a_database_that_does_not_answer_holds_up_nobody_else(
    team: TeamDesk, postgres_place: str
) -> None:
    run(team, together(fresh("a")))
    assert len(asked(team, ONE)[0]) == 1

    with nobody_reads_actions(postgres_place) as go_on:
        (found,) = asyncio.run(answered_after(go_on, team.ask([ONE])))
    assert [row["id"] for row in found] == ["a"]
