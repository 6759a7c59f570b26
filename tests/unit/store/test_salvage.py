"""What can be read of a damaged database is copied into a new one, and nothing is made up."""

from __future__ import annotations

import json
import os
import random
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast import processes
from holdfast.errors import StoreDamaged, StoreUnavailable
from holdfast.store import database_pages, salvage, sqlite_migrations
from holdfast.store.sqlite import SQLiteDatabase
from tests.unit.store.store_file import close_old_files, find_set_aside

PAGE_BYTES = 4096
ROWS = 400
# Every length of a record: on its page, with one page of its own, and with several.
LENGTHS = (0, 1, 10, 200, 3000, 4060, 4070, 5000, 20_000)
INSERT_ACTION = (
    "INSERT INTO actions VALUES (:id, 'p', 's', '', 'Bash', 'shell', :text, :output, '[]', "
    ":number, NULL, '{}', :number, 1.5)"
)
INSERT_CHANGE = (
    "INSERT INTO changes (seq, id, kind, record, project, session, gone, at) "
    "VALUES (:number, :id, 'actions', :id, 'p', 's', 0, 1)"
)
INSERT_MESSAGE = (
    "INSERT INTO messages VALUES (:id, 'p', 's', 'a', 'b', 'note', 'topic', '{}', 1, 0, 1, 2, "
    ":number)"
)
TABLES = {"actions": INSERT_ACTION, "changes": INSERT_CHANGE, "messages": INSERT_MESSAGE}


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "home" / "ledger.db")


pytestmark = pytest.mark.usefixtures("salvage_in_this_process")


def open_ledger(path: str, **options: Any) -> SQLiteDatabase:
    return SQLiteDatabase(path, migrations=sqlite_migrations.LEDGER_MIGRATIONS, **options)


def fill(database: SQLiteDatabase, numbers: range) -> None:
    generator = random.Random(5)
    database.begin()
    for number in numbers:
        length = LENGTHS[number % len(LENGTHS)]
        text = "".join(generator.choices("ab ü€🚀", k=length))
        values = {"id": f"row {number}", "number": number, "text": text, "output": text[::-1]}
        for statement in TABLES.values():
            names = [name for name in values if f":{name}" in statement]
            database.run(statement, {name: values[name] for name in names})
    database.commit()


def read_rows(path: str) -> dict[str, dict[str, dict[str, Any]]]:
    with closing(open_ledger(path)) as database:
        assert database.run("PRAGMA integrity_check")[0] == [{"integrity_check": "ok"}]
        return {
            table: {row["id"]: row for row in database.run(f"SELECT * FROM {table}")[0]}
            for table in TABLES
        }


@pytest.fixture
def rows(path: str) -> dict[str, dict[str, dict[str, Any]]]:
    """A ledger on disk, and what is in it."""
    with closing(open_ledger(path)) as database:
        fill(database, range(ROWS))
    return read_rows(path)


def overwrite(path: str, page: int, data: bytes = b"\xa5" * PAGE_BYTES, at: int = 0) -> None:
    with open(path, "r+b") as file:
        file.seek((page - 1) * PAGE_BYTES + at)
        file.write(data)


def find_root(path: str, name: str) -> int:
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        return int(connection.execute(query, (name,)).fetchone()[0])


def list_leaves(path: str, name: str) -> list[int]:
    """Return the pages with the rows of a table."""
    pages = database_pages.DatabasePages(path)
    with closing(pages):
        tree = [*pages.walk(find_root(path, name), set())]
        return [page for page in tree if pages.get_type(page) == database_pages.TABLE_LEAF]


def salvage_file(path: str) -> dict[str, Any]:
    """Salvage the database as if SQLite had found it damaged; return the report."""
    inode = sqlite_migrations.get_inode(path)
    error = salvage.begin(path, inode, "ledger", "malformed")
    assert "it is now" in str(error)
    assert not os.path.exists(path + salvage.MARKER)
    (report,) = Path(path).parent.glob("*.json")
    loaded: dict[str, Any] = json.loads(report.read_text())
    return loaded


def test_a_damaged_leaf_loses_only_its_own_rows(
    path: str, rows: dict[str, dict[str, dict[str, Any]]]
) -> None:
    leaf = list_leaves(path, "actions")[3]
    with closing(database_pages.DatabasePages(path)) as pages:
        on_page = {record.values[0] for record in pages.read_records(leaf) if record}
    overwrite(path, leaf)
    damaged_bytes = Path(path).read_bytes()
    with (
        closing(open_ledger(path)) as database,
        pytest.raises(StoreDamaged, match="it is now") as caught,
    ):
        database.run("SELECT count(output) FROM actions")
    assert "doctor" in caught.value.hint
    found = read_rows(path)
    assert 0 < len(on_page) < ROWS
    assert found["actions"] == {
        ident: row for ident, row in rows["actions"].items() if ident not in on_page
    }
    assert (found["changes"], found["messages"]) == (rows["changes"], rows["messages"])
    assert find_set_aside(path).read_bytes() == damaged_bytes
    report = json.loads(Path(f"{find_set_aside(path)}.json").read_text())
    assert report["lost"] == {"actions": len(on_page)}
    assert report["rows"]["actions"] == ROWS - len(on_page)
    assert report["damaged_pages"] == 1


def test_rows_below_a_damaged_inner_page_are_found(
    path: str, rows: dict[str, dict[str, dict[str, Any]]]
) -> None:
    for table in TABLES:
        overwrite(path, find_root(path, table))
    report = salvage_file(path)
    assert read_rows(path) == rows
    assert (report["lost"], report["damaged_pages"]) == ({}, len(TABLES))


def test_damaged_indexes_lose_no_row(path: str, rows: dict[str, dict[str, dict[str, Any]]]) -> None:
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT rootpage FROM sqlite_master WHERE type = 'index'"
        roots = [root for (root,) in connection.execute(query)]
    for root in roots:
        overwrite(path, root)
    salvage_file(path)
    assert read_rows(path) == rows


def test_rows_are_found_without_the_first_page(
    path: str, rows: dict[str, dict[str, dict[str, Any]]]
) -> None:
    """It has the header of the file and the beginning of the schema."""
    overwrite(path, 1)
    with pytest.raises(StoreDamaged, match="it is now"):
        open_ledger(path)
    assert read_rows(path) == rows


def test_a_schema_with_a_damaged_byte_is_salvaged(
    path: str, rows: dict[str, dict[str, dict[str, Any]]]
) -> None:
    """SQLite's message contains the byte, and Python cannot decode it."""
    data = Path(path).read_bytes().replace(b"CREATE TABLE actions", b"CREATE T\xf3BLE actions", 1)
    Path(path).write_bytes(data)
    with pytest.raises(StoreDamaged, match="it is now"):
        open_ledger(path)
    assert read_rows(path) == rows


def test_rows_that_were_deleted_do_not_come_back(
    path: str, rows: dict[str, dict[str, dict[str, Any]]]
) -> None:
    with closing(open_ledger(path)) as database:
        database.run("DELETE FROM actions WHERE exit_code >= 40")
    assert [len(found) for found in read_rows(path).values()] == [40, ROWS, ROWS]
    overwrite(path, find_root(path, "actions"))
    salvage_file(path)
    kept = {ident: row for ident, row in rows["actions"].items() if row["exit_code"] < 40}
    assert read_rows(path)["actions"] == kept


def test_a_transaction_that_began_before_is_not_lost(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that are committed but still in the write-ahead log are not lost either."""
    monkeypatch.setattr(processes, "start_process", lambda *_: 999_999_999)
    monkeypatch.setattr(salvage, "LAST_COMMIT_SECONDS", 0.05)
    with closing(open_ledger(path)) as database:
        database.run("PRAGMA wal_autocheckpoint = 0")
        fill(database, range(50))
        database.begin()
        database.run(INSERT_MESSAGE, {"id": "the last one", "number": 1})
        salvage.begin(path, sqlite_migrations.get_inode(path), "ledger", "malformed")
        with pytest.raises(StoreUnavailable, match="locked"):
            salvage.salvage(path, "ledger")
        database.commit()
        salvage.salvage(path, "ledger")
    found = read_rows(path)
    written = {f"row {number}" for number in range(50)}
    assert set(found["changes"]) == set(found["actions"]) == written
    assert set(found["messages"]) == {*written, "the last one"}


def test_a_damaged_frame_of_the_write_ahead_log_does_not_hide_later_ones(
    path: str, tmp_path: Path
) -> None:
    copy = tmp_path / "copy" / "ledger.db"
    copy.parent.mkdir()
    with closing(open_ledger(path)) as database:
        database.run("PRAGMA wal_autocheckpoint = 0")
        for number in range(20):
            fill(database, range(number * 9, number * 9 + 9))
        for ending in ("", "-wal"):
            Path(f"{copy}{ending}").write_bytes(Path(path + ending).read_bytes())
    frames = os.path.getsize(f"{copy}-wal") // (PAGE_BYTES + 24)
    assert frames > 100
    with open(f"{copy}-wal", "r+b") as file:
        file.seek(32 + frames // 2 * (PAGE_BYTES + 24) + 3000)
        file.write(b"\xa5" * 100)
    salvage_file(str(copy))
    assert len(read_rows(str(copy))["messages"]) >= 9 * 20 - 40


class TracedPages(database_pages.DatabasePages):
    """Records which pages are read."""

    seen: set[int]

    def read(self, number: int) -> bytes:
        self.seen.add(number)
        return super().read(number)


def find_pages_of_rows(path: str) -> dict[str, dict[str, set[int]]]:
    """Return the pages that hold each row: its leaf, and the pages of long values."""
    found: dict[str, dict[str, set[int]]] = {table: {} for table in TABLES}
    TracedPages.seen = set()
    with closing(TracedPages(path)) as pages:
        for table in TABLES:
            id_column = 2 if table == "changes" else 0
            for leaf in list_leaves(path, table):
                records = pages.read_records(leaf)
                while True:
                    pages.seen = {leaf}
                    record = next(records, "no more")
                    if record == "no more":
                        break
                    assert isinstance(record, database_pages.Record)
                    found[table][record.values[id_column]] = pages.seen
    return found


def test_random_damage_loses_only_rows_on_the_pages_that_it_touched(
    path: str, rows: dict[str, dict[str, dict[str, Any]]], tmp_path: Path
) -> None:
    original = Path(path).read_bytes()
    pages_of_rows = find_pages_of_rows(path)
    untouched_rows = 0
    for seed in range(20):
        generator = random.Random(seed)
        copy = tmp_path / str(seed) / "ledger.db"
        copy.parent.mkdir()
        copy.write_bytes(original)
        touched = set()
        for _ in range(generator.choice((1, 3, 20))):
            data = generator.randbytes(generator.choice((1, 2, 64, PAGE_BYTES)))
            page = generator.randrange(1, len(original) // PAGE_BYTES + 1)
            overwrite(str(copy), page, data, generator.randrange(PAGE_BYTES + 1 - len(data)))
            touched.add(page)
        report = salvage_file(str(copy))
        found = read_rows(str(copy))
        for table, expected in rows.items():
            for ident, row in expected.items():
                if touched.isdisjoint(pages_of_rows[table][ident]):
                    untouched_rows += 1
                    assert found[table].get(ident) == row, (seed, table, ident, report)
    assert untouched_rows > 10 * ROWS


def test_a_process_that_has_the_old_file_open_does_not_write_to_it(
    path: str, rows: dict[str, dict[str, dict[str, Any]]]
) -> None:
    with closing(open_ledger(path)) as other:
        assert not other.is_replaced
        salvage_file(path)
        assert other.is_replaced
        for write in (other.begin, lambda: other.run("DELETE FROM actions")):
            with pytest.raises(StoreUnavailable, match="was replaced"):
                write()
        assert not other.in_transaction
    assert read_rows(path) == rows


def test_the_file_is_checked_again_once_the_lock_is_held(
    path: str, rows: dict[str, dict[str, dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process sets the file aside while this one waits for the lock."""
    with closing(open_ledger(path)) as other:
        answers = iter([False, True])
        monkeypatch.setattr(SQLiteDatabase, "is_replaced", property(lambda _: next(answers)))
        with pytest.raises(StoreUnavailable, match="was replaced"):
            other.begin()
        assert not other.in_transaction


class Killed(BaseException):
    """Stands for SIGKILL at this place."""


def kill(*_: object) -> None:
    raise Killed


KILL_PLACES: dict[str, tuple[Any, str]] = {
    "before the files are renamed": (salvage, "_move"),
    "before the rows are copied": (salvage, "_copy_rows"),
    "before the report is written": (salvage.fast_json, "dumps"),
    "before the note is removed": (os, "unlink"),
}


def test_a_salvage_that_was_killed_is_done_by_the_next_process(
    path: str, rows: dict[str, dict[str, dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []
    monkeypatch.setattr(processes, "start_process", lambda *_: started.append("") or 999_999_999)
    for place, (module, name) in KILL_PLACES.items():
        salvage.begin(path, sqlite_migrations.get_inode(path), "ledger", "malformed")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, name, kill)
            with pytest.raises(Killed):
                salvage.salvage(path, "ledger")
        close_old_files()
        before = len(started)
        with pytest.raises(StoreDamaged, match="being salvaged"):
            open_ledger(path, busy_seconds=0.01)
        assert len(started) == before + 1, place
        salvage.salvage(path, "ledger")
        assert read_rows(path) == rows, place


def test_a_note_without_a_rename_is_completed(
    path: str, rows: dict[str, dict[str, dict[str, Any]]]
) -> None:
    inode = sqlite_migrations.get_inode(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "rename", kill)
        with pytest.raises(Killed):
            salvage.begin(path, inode, "ledger", "malformed")
    assert read_rows(path) == rows, "the next process salvages first"


def test_a_process_that_finds_no_file_during_the_salvage_does_not_make_an_empty_one(
    path: str, rows: dict[str, dict[str, dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other process sets the file aside between two questions of this one."""
    inode = sqlite_migrations.get_inode(path)
    really_exists = os.path.exists
    questions: list[str] = []

    def exists(asked: str) -> bool:
        questions.append(asked)
        if len(questions) == 1:
            monkeypatch.setattr(os.path, "exists", really_exists)
            monkeypatch.setattr(processes, "start_process", lambda *_: 999_999_999)
            salvage.begin(path, inode, "ledger", "malformed")
        return really_exists(asked)

    monkeypatch.setattr(os.path, "exists", exists)
    with pytest.raises(StoreDamaged, match="being salvaged"):
        open_ledger(path, busy_seconds=0.01)
    assert questions
    assert not os.path.exists(path)
    salvage.salvage(path, "ledger")
    assert read_rows(path) == rows


def test_the_write_ahead_log_of_the_new_file_does_not_replace_that_of_the_old_one(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process was killed after it had filled the new file and before it closed it."""
    monkeypatch.setattr(processes, "start_process", lambda *_: 999_999_999)
    with closing(open_ledger(path)) as database:
        database.run("PRAGMA wal_autocheckpoint = 0")
        fill(database, range(50))
        salvage.begin(path, sqlite_migrations.get_inode(path), "ledger", "malformed")
        os.rename(path + salvage.MARKER, path + ".hidden")
        with closing(open_ledger(path)) as new:
            new.run(INSERT_MESSAGE, {"id": "in the new file", "number": 1})
            assert os.path.getsize(path + "-wal")
            os.rename(path + ".hidden", path + salvage.MARKER)
            salvage.salvage(path, "ledger")
    assert len(read_rows(path)["actions"]) == 50
    assert "in the new file" in read_rows(path)["messages"]


def test_nothing_is_taken_from_a_damaged_file_of_the_first_edition(
    path: str, rows: dict[str, dict[str, dict[str, Any]]]
) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 4")
    report = salvage_file(path)
    assert report["rows"] == {}
    assert read_rows(path) == {table: {} for table in TABLES}


def test_an_error_about_a_value_is_not_taken_for_a_damaged_file(path: str) -> None:
    with (
        closing(open_ledger(path)) as database,
        pytest.raises(StoreUnavailable, match="malformed JSON") as caught,
    ):
        database.run("SELECT json('{')")
    assert not isinstance(caught.value, StoreDamaged)
    assert os.listdir(os.path.dirname(path)) == ["ledger.db"]


@pytest.mark.parametrize("note", ["", "{", "{}", "[]", "null"])
def test_an_unreadable_note_does_not_block_the_database(
    path: str, rows: dict[str, dict[str, dict[str, Any]]], note: str
) -> None:
    """A power cut can leave one."""
    Path(path + salvage.MARKER).write_text(note)
    assert read_rows(path) == rows, "the database itself was whole"
    os.rename(path, f"{path}{salvage.ASIDE}20261118-120000")
    Path(path + salvage.MARKER).write_text(note)
    assert read_rows(path) == rows, "the file had been set aside"
