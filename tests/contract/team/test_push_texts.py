"""Indexed texts are pushed to the team once, completely, and under the right project."""

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


def find_lines(team: PostgresStore, query: str, project: str | None = None) -> set[tuple[str, int]]:
    index = TeamIndex(team.database)
    scope = index.scope(project, None)
    return {(hit.session, hit.line) for hit in search(index, query, scope)} if scope else set()


def count_documents(team: PostgresStore) -> int:
    count: int = team.database.run("SELECT count(*) AS n FROM recall_documents")[0][0]["n"]
    return count


def test_only_new_texts_are_pushed(machine: Machine, team: PostgresStore) -> None:
    machine.add_lines("s1", "jitter one")
    assert (machine.count_unsent_texts(), machine.push_texts(), machine.count_unsent_texts()) == (
        1,
        1,
        0,
    )
    assert machine.push_texts() == 0
    machine.add_lines("s1", "jitter two")
    assert machine.push_texts() == 1
    assert find_lines(team, "jitter") == {("s1", 1), ("s1", 2)}


def test_pushing_everything_again_duplicates_nothing(machine: Machine, team: PostgresStore) -> None:
    machine.add_lines("s1", "jitter one", "jitter two")
    machine.push_texts()
    machine.ledger.save_progress(f"texts sent to {TEAM}", {})
    assert (machine.count_unsent_texts(), machine.push_texts(), count_documents(team)) == (1, 0, 2)


def test_an_interrupted_push_continues_where_it_stopped(
    machine: Machine, team: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(push, "BATCH_DOCUMENTS", 10)
    machine.add_lines("s1", *[f"jitter {number}" for number in range(45)])
    assert machine.push_texts(lambda: True) == 10
    assert (machine.count_unsent_texts(), count_documents(team)) == (1, 10)
    original_fetch_all, inserts = TeamIndex.fetch_all, 0

    def fail_on_second_insert(self: TeamIndex, statement: str, **values: Any) -> Any:
        nonlocal inserts
        inserts += "INSERT INTO recall_documents" in statement
        if inserts == 2:
            inserts += 1
            raise StoreUnavailable("the network is down")
        return original_fetch_all(self, statement, **values)

    with monkeypatch.context() as patched:
        patched.setattr(TeamIndex, "fetch_all", fail_on_second_insert)
        with pytest.raises(StoreUnavailable):
            machine.push_texts()
    assert count_documents(team) == 20, "a batch must be stored completely or not at all"
    assert machine.push_texts() == 25
    assert count_documents(team) == 45


def test_large_texts_are_pushed_in_separate_batches(machine: Machine, team: PostgresStore) -> None:
    machine.add_lines(
        "s1", *["".join(chr(33 + n * k % 90) for n in range(60_000)) for k in range(90)]
    )
    assert machine.push_texts() == count_documents(team) == 90


def test_changed_notes_replace_the_pushed_ones(machine: Machine, team: PostgresStore) -> None:
    machine.add_lines("s1", "hello")
    source = Source("s1", machine.project, "", str(machine.folder / "notes.md"))
    for number, text in enumerate(("obelisk", "monolith")):
        document = Document(3, "note", "", "", "", text)
        fill_notes(machine.index, source, NotesContent(1, number, [document]))
        machine.push_texts()
    assert find_lines(team, "obelisk") == set()
    assert find_lines(team, "monolith") == {("s1", 3)}
    assert find_lines(team, "hello") == {("s1", 1)}


def test_texts_lost_on_a_machine_stay_with_the_team(machine: Machine, team: PostgresStore) -> None:
    machine.add_lines("s1", "jitter one")
    machine.push_texts()
    row = session_rows.find_row(machine.index, "s1")
    assert row is not None
    session_rows.remove_documents(machine.index, row, (0, 1 << 62))
    session_rows.save_row(machine.index, {**row, **session_rows.UNREAD_STATE})
    assert machine.push_texts() == 0
    assert find_lines(team, "jitter") == {("s1", 1)}


def test_only_clones_of_the_same_repository_share_a_project(
    machines: tuple[Machine, Machine], team: PostgresStore
) -> None:
    for number, machine in enumerate(machines):
        projects.ensure_project(machine.ledger, machine.project, 1.0, origin=ORIGIN)
        machine.add_lines(f"s{number}", "jitter here")
        machine.add_lines(f"x{number}", "jitter elsewhere", project=f"/elsewhere/{number}")
        machine.push_texts()
    ident = push_texts.to_project_id(machines[0].ledger, machines[0].project)
    assert ident == push_texts.to_project_id(machines[1].ledger, machines[1].project)
    assert find_lines(team, "jitter", ident) == {("s0", 1), ("s1", 1)}
    assert len(find_lines(team, "jitter")) == 4


def test_a_session_moved_to_another_project_is_found_only_there(
    machine: Machine, team: PostgresStore
) -> None:
    machine.add_lines("s1", "jitter one")
    before = push_texts.to_project_id(machine.ledger, machine.project)
    machine.push_texts()
    after = projects.ensure_project(machine.ledger, machine.project, 1.0, origin=ORIGIN)["id"]
    machine.add_lines("s1", "jitter two")
    machine.push_texts()
    assert find_lines(team, "jitter", before) == set()
    assert find_lines(team, "jitter", after) == {("s1", 1), ("s1", 2)}


def test_gc_counts_the_bytes_of_old_texts(machine: Machine, team: PostgresStore) -> None:
    machine.add_lines("s1", "jitter one")
    machine.add_lines("s2", "jitter " + " ".join(f"word{number}" for number in range(1000)))
    machine.push_texts()
    ledger, later = Ledger(team.database), NOW + 1
    other_bytes = count_expired(team, ledger, 1000.0).bytes
    documents = team.database.run(
        "SELECT text, pg_column_size(words) AS words FROM recall_documents"
    )[0]
    stored_bytes = sum(len(row["text"]) + row["words"] for row in documents)
    assert stored_bytes > 2000
    assert count_expired(team, ledger, later).bytes - other_bytes >= stored_bytes
    assert remove_expired(team, ledger, later).bytes >= stored_bytes
    assert count_expired(team, ledger, later).bytes == other_bytes, "deleted texts must not count"


def test_texts_deleted_by_gc_are_not_pushed_again(machine: Machine, team: PostgresStore) -> None:
    machine.add_lines("s1", "jitter one")
    machine.push_texts()
    ledger, later = Ledger(team.database), NOW + 1
    assert count_expired(team, ledger, 1000.0).texts == 0
    assert count_expired(team, ledger, later).texts == 1
    assert remove_expired(team, ledger, later).texts == 1
    machine.ledger.save_progress(f"texts sent to {TEAM}", {})
    assert machine.push_texts() == 0
    machine.add_lines("s1", "jitter two")
    assert machine.push_texts() == 1
    assert find_lines(team, "jitter") == {("s1", 2)}
