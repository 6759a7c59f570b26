"""What machines have indexed reaches the team once, whole, and under the right project."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.actions import send_texts
from holdfast.actions.retention import clear, leftovers
from holdfast.errors import StoreUnavailable
from holdfast.index import kept, sending
from holdfast.index.fill import Source
from holdfast.index.notes import Noted
from holdfast.index.notes import fill as fill_notes
from holdfast.index.search import search
from holdfast.index.team import TeamIndex
from holdfast.index.texts import Piece
from holdfast.ledger import projects
from holdfast.ledger.ledger import Ledger
from holdfast.store.postgres import PostgresStore
from tests.unit.index.transcripts import NOW

from .machine import TEAM, Machine

ORIGIN = "example.org/app"


def found(team: PostgresStore, query: str, project: str | None = None) -> set[tuple[str, int]]:
    index = TeamIndex(team.database)
    scope = index.scope(project, None)
    return {(one.session, one.line) for one in search(index, query, scope)} if scope else set()


def count(team: PostgresStore) -> int:
    number: int = team.database.run("SELECT count(*) AS n FROM recall_pieces")[0][0]["n"]
    return number


def test_what_is_new_is_sent_and_nothing_else(machine: Machine, team: PostgresStore) -> None:
    machine.says("s1", "jitter one")
    assert (machine.texts_wait(), machine.send_texts(), machine.texts_wait()) == (1, 1, 0)
    assert machine.send_texts() == 0
    machine.says("s1", "jitter two")
    assert machine.send_texts() == 1
    assert found(team, "jitter") == {("s1", 1), ("s1", 2)}


def test_a_machine_that_has_forgotten_what_it_sent_doubles_nothing(
    machine: Machine, team: PostgresStore
) -> None:
    machine.says("s1", "jitter one", "jitter two")
    machine.send_texts()
    machine.ledger.keep_reading(f"texts sent to {TEAM}", {})
    assert (machine.texts_wait(), machine.send_texts(), count(team)) == (1, 0, 2)


def test_whoever_is_interrupted_goes_on_from_there(
    machine: Machine, team: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "AT_ONCE", 10)
    machine.says("s1", *[f"jitter {number}" for number in range(45)])
    assert machine.send_texts(lambda: True) == 10
    assert (machine.texts_wait(), count(team)) == (1, 10)
    real, sent = TeamIndex.ask, 0

    def breaks(self: TeamIndex, statement: str, **values: Any) -> Any:
        nonlocal sent
        sent += "INSERT INTO recall_pieces" in statement
        if sent == 2:
            sent += 1
            raise StoreUnavailable("the network went away")
        return real(self, statement, **values)

    with monkeypatch.context() as patched:
        patched.setattr(TeamIndex, "ask", breaks)
        with pytest.raises(StoreUnavailable):
            machine.send_texts()
    assert count(team) == 20, "a batch arrives whole or not at all"
    assert machine.send_texts() == 25
    assert count(team) == 45


def test_a_large_text_goes_by_itself(machine: Machine, team: PostgresStore) -> None:
    machine.says("s1", *["".join(chr(33 + n * k % 90) for n in range(60_000)) for k in range(90)])
    assert machine.send_texts() == count(team) == 90


def test_notes_are_sent_as_they_are_now(machine: Machine, team: PostgresStore) -> None:
    machine.says("s1", "hello")
    source = Source("s1", machine.project, "", str(machine.folder / "notes.md"))
    for number, text in enumerate(("obelisk", "monolith")):
        piece = Piece(3, "note", "", "", "", text)
        fill_notes(machine.index, source, Noted(1, number, [piece]))
        machine.send_texts()
    assert found(team, "obelisk") == set()
    assert found(team, "monolith") == {("s1", 3)}
    assert found(team, "hello") == {("s1", 1)}


def test_what_a_machine_has_lost_stays_with_the_team(machine: Machine, team: PostgresStore) -> None:
    machine.says("s1", "jitter one")
    machine.send_texts()
    row = kept.row_of(machine.index, "s1")
    assert row is not None
    kept.take_out(machine.index, row, (0, 1 << 62))
    kept.save(machine.index, {**row, **kept.UNREAD})
    assert machine.send_texts() == 0
    assert found(team, "jitter") == {("s1", 1)}


def test_clones_of_one_repository_are_one_project_and_others_are_apart(
    machines: tuple[Machine, Machine], team: PostgresStore
) -> None:
    for number, machine in enumerate(machines):
        projects.project(machine.ledger, machine.project, 1.0, origin=ORIGIN)
        machine.says(f"s{number}", "jitter here")
        machine.says(f"x{number}", "jitter elsewhere", project=f"/elsewhere/{number}")
        machine.send_texts()
    ident = send_texts.project_of_path(machines[0].ledger, machines[0].project)
    assert ident == send_texts.project_of_path(machines[1].ledger, machines[1].project)
    assert found(team, "jitter", ident) == {("s0", 1), ("s1", 1)}
    assert len(found(team, "jitter")) == 4


def test_a_session_that_comes_to_another_project_is_found_there_only(
    machine: Machine, team: PostgresStore
) -> None:
    machine.says("s1", "jitter one")
    before = send_texts.project_of_path(machine.ledger, machine.project)
    machine.send_texts()
    after = projects.project(machine.ledger, machine.project, 1.0, origin=ORIGIN)["id"]
    machine.says("s1", "jitter two")
    machine.send_texts()
    assert found(team, "jitter", before) == set()
    assert found(team, "jitter", after) == {("s1", 1), ("s1", 2)}


def test_how_much_room_old_texts_take_is_told(machine: Machine, team: PostgresStore) -> None:
    machine.says("s1", "jitter one")
    machine.says("s2", "jitter " + " ".join(f"word{number}" for number in range(1000)))
    machine.send_texts()
    ledger, later = Ledger(team.database), NOW + 1
    others = leftovers(team, ledger, 1000.0).bytes
    pieces = team.database.run("SELECT text, pg_column_size(words) AS words FROM recall_pieces")[0]
    stored = sum(len(row["text"]) + row["words"] for row in pieces)
    assert stored > 2000
    assert leftovers(team, ledger, later).bytes - others >= stored
    assert clear(team, ledger, later).bytes >= stored
    assert leftovers(team, ledger, later).bytes == others, "what is gone takes none"


def test_old_texts_go_when_asked_and_do_not_come_back(
    machine: Machine, team: PostgresStore
) -> None:
    machine.says("s1", "jitter one")
    machine.send_texts()
    ledger, later = Ledger(team.database), NOW + 1
    assert leftovers(team, ledger, 1000.0).texts == 0
    assert leftovers(team, ledger, later).texts == 1
    assert clear(team, ledger, later).texts == 1
    machine.ledger.keep_reading(f"texts sent to {TEAM}", {})
    assert machine.send_texts() == 0
    machine.says("s1", "jitter two")
    assert machine.send_texts() == 1
    assert found(team, "jitter") == {("s1", 2)}
