"""Indexed texts reach the team once, complete, and under the right project."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.errors import StoreUnavailable
from holdfast.ledger import projects
from holdfast.ledger.repository import Ledger
from holdfast.search import push, session_rows
from holdfast.search.documents import Document
from holdfast.search.ingest import NotesContent, Source
from holdfast.search.ingest import ingest_notes as fill_notes
from holdfast.search.search import search
from holdfast.search.team_index import TeamIndex
from holdfast.services.team import push_texts
from holdfast.services.team.retention import count_expired, remove_expired
from holdfast.store.postgres import PostgresStore
from tests.unit.search.transcripts import NOW

from .machine import TEAM, Machine

ORIGIN = "example.org/app"


def found(team: PostgresStore, query: str, project: str | None = None) -> set[tuple[str, int]]:
    index = TeamIndex(team.database)
    scope = index.scope(project, None)
    return {(one.session, one.line) for one in search(index, query, scope)} if scope else set()


def count(team: PostgresStore) -> int:
    number: int = team.database.run("SELECT count(*) AS n FROM recall_documents")[0][0]["n"]
    return number


def test_only_new_texts_are_pushed(machine: Machine, team: PostgresStore) -> None:
    machine.says("s1", "jitter one")
    assert (machine.texts_wait(), machine.send_texts(), machine.texts_wait()) == (1, 1, 0)
    assert machine.send_texts() == 0
    machine.says("s1", "jitter two")
    assert machine.send_texts() == 1
    assert found(team, "jitter") == {("s1", 1), ("s1", 2)}


def test_pushing_everything_again_duplicates_nothing(machine: Machine, team: PostgresStore) -> None:
    machine.says("s1", "jitter one", "jitter two")
    machine.send_texts()
    machine.ledger.save_progress(f"texts sent to {TEAM}", {})
    assert (machine.texts_wait(), machine.send_texts(), count(team)) == (1, 0, 2)


def test_an_interrupted_push_continues_where_it_stopped(
    machine: Machine, team: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(push, "BATCH_DOCUMENTS", 10)
    machine.says("s1", *[f"jitter {number}" for number in range(45)])
    assert machine.send_texts(lambda: True) == 10
    assert (machine.texts_wait(), count(team)) == (1, 10)
    real, sent = TeamIndex.fetch_all, 0

    def breaks(self: TeamIndex, statement: str, **values: Any) -> Any:
        nonlocal sent
        sent += "INSERT INTO recall_documents" in statement
        if sent == 2:
            sent += 1
            raise StoreUnavailable("the network went away")
        return real(self, statement, **values)

    with monkeypatch.context() as patched:
        patched.setattr(TeamIndex, "fetch_all", breaks)
        with pytest.raises(StoreUnavailable):
            machine.send_texts()
    assert count(team) == 20, "a batch arrives whole or not at all"
    assert machine.send_texts() == 25
    assert count(team) == 45


def test_a_large_text_is_sent_in_a_batch_of_its_own(machine: Machine, team: PostgresStore) -> None:
    machine.says("s1", *["".join(chr(33 + n * k % 90) for n in range(60_000)) for k in range(90)])
    assert machine.send_texts() == count(team) == 90


def test_notes_are_sent_as_they_are_now(machine: Machine, team: PostgresStore) -> None:
    machine.says("s1", "hello")
    source = Source("s1", machine.project, "", str(machine.folder / "notes.md"))
    for number, text in enumerate(("obelisk", "monolith")):
        piece = Document(3, "note", "", "", "", text)
        fill_notes(machine.index, source, NotesContent(1, number, [piece]))
        machine.send_texts()
    assert found(team, "obelisk") == set()
    assert found(team, "monolith") == {("s1", 3)}
    assert found(team, "hello") == {("s1", 1)}


def test_texts_lost_on_a_machine_stay_with_the_team(machine: Machine, team: PostgresStore) -> None:
    machine.says("s1", "jitter one")
    machine.send_texts()
    row = session_rows.find_row(machine.index, "s1")
    assert row is not None
    session_rows.remove_documents(machine.index, row, (0, 1 << 62))
    session_rows.save_row(machine.index, {**row, **session_rows.UNREAD_STATE})
    assert machine.send_texts() == 0
    assert found(team, "jitter") == {("s1", 1)}


def test_clones_of_one_repository_are_one_project_and_others_are_not(
    machines: tuple[Machine, Machine], team: PostgresStore
) -> None:
    for number, machine in enumerate(machines):
        projects.ensure_project(machine.ledger, machine.project, 1.0, origin=ORIGIN)
        machine.says(f"s{number}", "jitter here")
        machine.says(f"x{number}", "jitter elsewhere", project=f"/elsewhere/{number}")
        machine.send_texts()
    ident = push_texts.to_project_id(machines[0].ledger, machines[0].project)
    assert ident == push_texts.to_project_id(machines[1].ledger, machines[1].project)
    assert found(team, "jitter", ident) == {("s0", 1), ("s1", 1)}
    assert len(found(team, "jitter")) == 4


def test_a_session_moved_to_another_project_is_found_only_there(
    machine: Machine, team: PostgresStore
) -> None:
    machine.says("s1", "jitter one")
    before = push_texts.to_project_id(machine.ledger, machine.project)
    machine.send_texts()
    after = projects.ensure_project(machine.ledger, machine.project, 1.0, origin=ORIGIN)["id"]
    machine.says("s1", "jitter two")
    machine.send_texts()
    assert found(team, "jitter", before) == set()
    assert found(team, "jitter", after) == {("s1", 1), ("s1", 2)}


def test_gc_counts_the_bytes_of_old_texts(machine: Machine, team: PostgresStore) -> None:
    machine.says("s1", "jitter one")
    machine.says("s2", "jitter " + " ".join(f"word{number}" for number in range(1000)))
    machine.send_texts()
    ledger, later = Ledger(team.database), NOW + 1
    others = count_expired(team, ledger, 1000.0).bytes
    pieces = team.database.run("SELECT text, pg_column_size(words) AS words FROM recall_documents")[
        0
    ]
    stored = sum(len(row["text"]) + row["words"] for row in pieces)
    assert stored > 2000
    assert count_expired(team, ledger, later).bytes - others >= stored
    assert remove_expired(team, ledger, later).bytes >= stored
    assert count_expired(team, ledger, later).bytes == others, "what is gone takes none"


def test_gc_deletes_old_texts_for_good(machine: Machine, team: PostgresStore) -> None:
    machine.says("s1", "jitter one")
    machine.send_texts()
    ledger, later = Ledger(team.database), NOW + 1
    assert count_expired(team, ledger, 1000.0).texts == 0
    assert count_expired(team, ledger, later).texts == 1
    assert remove_expired(team, ledger, later).texts == 1
    machine.ledger.save_progress(f"texts sent to {TEAM}", {})
    assert machine.send_texts() == 0
    machine.says("s1", "jitter two")
    assert machine.send_texts() == 1
    assert found(team, "jitter") == {("s1", 2)}
