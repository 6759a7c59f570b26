"""Replace a damaged SQLite file by a new one with every row that can still be read.

1. `begin` writes a note with the suffix MARKER and renames the damaged file. From then on no
   process opens the database, and those that have it open refuse to write (`SQLiteDatabase`).
2. A process of its own (`main`) copies the rows into a new file in one transaction, writes a report
   beside the old one and removes the note. A hook has no time for that, and a server must not wait.

If that process is killed, the next one that wants the database starts it again. A row that is there
already is not copied again. The damaged file is kept.
"""

from __future__ import annotations

import os
import sys
import time

from holdfast import fast_json, own_files, processes
from holdfast.errors import StoreDamaged, StoreUnavailable
from holdfast.store import sqlite_migrations
from holdfast.store.database_pages import INDEX_LEAF, TABLE_LEAF, DamagedPage, DatabasePages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from holdfast.store.database_pages import Record

MARKER = sqlite_migrations.SALVAGE_MARKER
LOCK = ".salvage.lock"
ASIDE = ".damaged-"
REPORT = ".json"
# A database is one file, or three while it is in use.
FILES = ("", "-wal", "-shm")
# How long `wait` waits for the new file. It is there at once unless the old one is large.
MAX_WAIT_SECONDS = 1.0
POLL_SECONDS = 0.02
# How long a transaction that began before the file was renamed may take.
LAST_COMMIT_SECONDS = 10.0
KINDS = {"store": "STORE_MIGRATIONS", "ledger": "LEDGER_MIGRATIONS"}
LEAF_TYPES = (TABLE_LEAF, INDEX_LEAF)
# How SQLite names types, and the Python types of their values.
VALUE_TYPES: dict[str, tuple[type, ...]] = {
    "TEXT": (str,), "INTEGER": (int,), "REAL": (float, int), "BLOB": (bytes,)
}  # fmt: skip
UNSET_MISSING_SNAPSHOTS = (
    "UPDATE compactions SET snapshot = NULL "
    "WHERE snapshot IS NOT NULL AND snapshot NOT IN (SELECT id FROM snapshots)"
)
OPEN_CONNECTIONS: list[Any] = []
"""Connections that stay open until the process ends: closing one would write to the old file."""


def begin(path: str, inode: int, kind: str, problem: object) -> StoreDamaged:
    """Set a damaged file aside and start to salvage it; return the error to raise.

    Does nothing more if another process has done so already.
    """
    try:
        lock = processes.try_lock(path + LOCK)
        if lock is None or sqlite_migrations.get_inode(path) != inode:
            _unlock(lock)
            return StoreDamaged(f"{problem}; another process has set {path} aside")
        aside = _choose_name(path)
        own_files.replace(path + MARKER, fast_json.dumps({"aside": aside, "inode": inode}))
        try:
            _move(path, aside, inode)
        except OSError:
            if sqlite_migrations.get_inode(path) == inode:
                os.unlink(path + MARKER)
            raise
        finally:
            _unlock(lock)
    except OSError as failure:
        return StoreDamaged(f"{problem}; {path} could not be set aside ({failure.strerror})")
    _start(path, kind)
    return StoreDamaged(f"{problem}; it is now {aside}")


def wait(path: str, kind: str, seconds: float) -> None:
    """Wait until the database is salvaged; raises StoreDamaged if that takes longer.

    Called if there is a note with the suffix MARKER.
    """
    if _is_idle(path):
        # The process that did it was killed.
        _start(path, kind)
    deadline = time.monotonic() + min(seconds, MAX_WAIT_SECONDS)
    while os.path.exists(path + MARKER):
        if time.monotonic() > deadline:
            raise StoreDamaged(f"{path} is being salvaged")
        time.sleep(POLL_SECONDS)


def _is_idle(path: str) -> bool:
    """Return whether no process is at work."""
    try:
        lock = processes.try_lock(path + LOCK)
    except OSError as problem:
        raise StoreDamaged(f"{path} cannot be salvaged ({problem.strerror})") from problem
    _unlock(lock)
    return lock is not None


def _start(path: str, kind: str) -> None:
    process = processes.start_process(os.environ, __name__, path, kind)
    if not process:
        salvage(path, kind)
        return
    import _thread

    # A server lives on: without this, the process would stay as a zombie.
    _thread.start_new_thread(_reap, (process,))


def _reap(process: int) -> None:
    try:
        os.waitpid(process, 0)
    except ChildProcessError:
        return  # the program waits for its child processes itself


def main() -> None:
    """The process that salvages: arguments are the path of the database and its kind."""
    path, kind = sys.argv[1:3]
    salvage(path, kind)
    os._exit(0)


def salvage(path: str, kind: str) -> None:
    """Fill the new file of a database that was set aside; waits if another process does it."""
    lock = processes.try_lock(path + LOCK, wait=True)
    try:
        if os.path.exists(path + MARKER):
            note = _read_note(path)
            if note["aside"]:
                migrations = getattr(sqlite_migrations, KINDS[kind])
                _replace(path, note["aside"], note["inode"], migrations)
            os.unlink(path + MARKER)
    finally:
        _unlock(lock)


def _replace(path: str, aside: str, inode: int, migrations: tuple[str, int]) -> None:
    """Copy the rows of the old file into the one at the path, which is created if needed.

    There is one if a process was killed that had made it.
    """
    _move(path, aside, inode)
    _wait_for_last_commit(aside)
    connection = sqlite_migrations.open_or_create(path, LAST_COMMIT_SECONDS, migrations)
    try:
        connection.execute("PRAGMA synchronous = FULL")
        report = _copy_rows(aside, connection)
    finally:
        connection.close()
    own_files.replace(aside + REPORT, fast_json.dumps(report))


def _choose_name(path: str) -> str:
    """Return a name for the damaged file that no file has."""
    name = f"{path}{ASIDE}{time.strftime('%Y%m%d-%H%M%S')}"
    number = 1
    while os.path.exists(name if number == 1 else f"{name}-{number}"):
        number += 1
    return name if number == 1 else f"{name}-{number}"


def _move(path: str, aside: str, inode: int) -> None:
    """Rename the files that are not renamed yet.

    If the new database is at the path, a process was killed that had made it: then all of them are,
    and a write-ahead log at the path belongs to the new one.
    """
    current = sqlite_migrations.get_inode(path)
    if current not in (0, inode):
        return
    for ending in FILES:
        if os.path.exists(path + ending):
            os.rename(path + ending, aside + ending)


def _wait_for_last_commit(aside: str) -> None:
    """Take and keep the write lock of the old file, so that a transaction that began before it was
    renamed is complete. Later ones notice that it was (`SQLiteDatabase.begin`).

    Raises StoreUnavailable if the transaction takes longer: the next process tries again.
    """
    try:
        connection = sqlite_migrations.open_file(aside, LAST_COMMIT_SECONDS)
        OPEN_CONNECTIONS.append(connection)
        connection.execute("BEGIN IMMEDIATE")
    except sqlite_migrations.Error as problem:
        if "locked" in str(problem):
            raise StoreUnavailable(f"{aside} ({problem})") from problem
        # It is too damaged for SQLite, so there is no transaction either.


def _read_note(path: str) -> dict[str, Any]:
    """Return the name and the inode of the file that was set aside.

    A power cut can leave an empty note. Then the newest file that was set aside counts if there is
    none at the path; otherwise the database is whole, and the name is empty.
    """
    try:
        with open(path + MARKER, encoding="utf-8") as file:
            note: dict[str, Any] = fast_json.loads(file.read())
        return {"aside": str(note["aside"]), "inode": int(note["inode"])}
    except (OSError, ValueError, KeyError, TypeError):
        aside = "" if os.path.exists(path) else _find_newest_aside(path)
        return {"aside": aside, "inode": 0}


def _find_newest_aside(path: str) -> str:
    folder, name = os.path.split(path)
    endings = tuple(ending for ending in (*FILES, REPORT) if ending)
    found = [
        other
        for other in os.listdir(folder)
        if other.startswith(name + ASIDE) and not other.endswith(endings)
    ]
    return os.path.join(folder, max(found)) if found else ""


def _unlock(lock: int | None) -> None:
    if lock is not None:
        os.close(lock)


def _copy_rows(aside: str, connection: Any) -> dict[str, Any]:
    """Copy all rows into a new database; return how many of each table, and how many were lost."""
    tables = _list_tables(connection)
    pages = DatabasePages(aside)
    try:
        if sqlite_migrations.is_first_edition(pages.version):
            # Its tables have the same names and other columns.
            return {"rows": {}, "lost": {}, "damaged_pages": 0}
        source = _Source(pages, tables)
    finally:
        pages.close()
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("BEGIN IMMEDIATE")
    for table in tables:
        table.insert(connection)
    if any(table.name == "compactions" for table in tables):
        connection.execute(UNSET_MISSING_SNAPSHOTS)
    connection.execute("COMMIT")
    return {
        "rows": {table.name: len(table.rows) for table in tables if table.rows},
        "lost": {table.name: lost for table in tables if (lost := table.count_lost())},
        "damaged_pages": len(source.damaged),
    }


class _Table:
    """A table of the new database, and the rows that were found for it."""

    def __init__(self, name: str, columns: list[tuple[str, str, bool, int]], *, by_key: bool):
        """`columns` have name, type, NOT NULL and position in the primary key; `by_key` is for a
        table WITHOUT ROWID, whose rows are stored in the order of its key.
        """
        self.name = name
        keys = [column for column in columns if column[3]]
        others = [column for column in columns if not column[3]]
        in_order = [*sorted(keys, key=lambda column: column[3]), *others]
        self.columns = in_order if by_key else columns
        self.leaf_type = INDEX_LEAF if by_key else TABLE_LEAF
        # Its value is not stored in the record.
        self.has_rowid_alias = not by_key and len(keys) == 1 and keys[0][1] == "INTEGER"
        self.rows: dict[Any, list[Any]] = {}
        self.indexed: set[int] = set()
        self.has_whole_indexes = True
        self.damaged_records = 0

    def fits(self, record: Record) -> bool:
        """Return whether a record can be a row of this table."""
        return len(record.values) == len(self.columns) and all(
            self._fits_column(value, column)
            for value, column in zip(record.values, self.columns, strict=True)
        )

    def _fits_column(self, value: Any, column: tuple[str, str, bool, int]) -> bool:
        _, kind, is_required, key = column
        if value is None:
            return not is_required or bool(key and self.has_rowid_alias)
        return isinstance(value, VALUE_TYPES.get(kind, (object,)))

    def add(self, record: Record) -> None:
        key = record.rowid if self.leaf_type == TABLE_LEAF else tuple(record.values)
        self.rows.setdefault(key, record.values)

    def may_have(self, record: Record) -> bool:
        """Return whether the table's indexes have this row, as far as they can be read."""
        return not self.has_whole_indexes or not self.indexed or record.rowid in self.indexed

    def count_lost(self) -> int:
        """Return how many rows could not be read; more than that if indexes are damaged too."""
        return max(self.damaged_records, len(self.indexed - self.rows.keys()))

    def insert(self, connection: Any) -> None:
        """Insert the rows. Of two with one key the first counts."""
        names = ", ".join(name for name, *_ in self.columns)
        places = ", ".join("?" * len(self.columns))
        statement = f"INSERT OR IGNORE INTO {self.name} ({names}) VALUES ({places})"
        connection.executemany(statement, self._list_values())

    def _list_values(self) -> Iterator[list[Any]]:
        for rowid, values in self.rows.items():
            if not self.has_rowid_alias:
                yield values
            else:
                pairs = zip(values, self.columns, strict=True)
                yield [rowid if column[3] else value for value, column in pairs]


class _Source:
    """Finds the rows of all tables in the pages of the old file."""

    def __init__(self, pages: DatabasePages, tables: list[_Table]) -> None:
        self._pages = pages
        self._tables = {table.name: table for table in tables}
        self.damaged: set[int] = set()
        self._used: set[int] = set()
        roots = [*self._read_roots()]
        for kind, name, root in roots:
            if kind == "index":
                self._read_index(self._tables[name], root)
        for kind, name, root in roots:
            if kind == "table":
                self._read_table(self._tables[name], root)
        is_schema_whole = {name for kind, name, _ in roots if kind == "table"} == {*self._tables}
        if self.damaged or not is_schema_whole:
            self._read_lost_pages()

    def _read_roots(self) -> Iterator[tuple[str, str, int]]:
        """Yield kind, table and root page of each table and index in the schema."""
        for record in self._read_tree(1):
            if record is None or len(record.values) != 5:
                continue
            kind, _, table, root, _ = record.values
            if table in self._tables and isinstance(root, int):
                yield str(kind), table, root

    def _read_tree(self, root: int) -> Iterator[Record | None]:
        for number in self._pages.walk(root, self.damaged):
            self._used.add(number)
            yield from self._read_page(number)

    def _read_page(self, number: int) -> Iterator[Record | None]:
        try:
            yield from self._pages.read_records(number)
        except DamagedPage:
            self.damaged.add(number)

    def _read_index(self, table: _Table, root: int) -> None:
        damaged_before = len(self.damaged)
        for record in self._read_tree(root):
            if record is not None and record.values and isinstance(record.values[-1], int):
                table.indexed.add(record.values[-1])
            else:
                table.has_whole_indexes = False
        if len(self.damaged) > damaged_before:
            table.has_whole_indexes = False

    def _read_table(self, table: _Table, root: int) -> None:
        for record in self._read_tree(root):
            if record is not None and table.fits(record):
                table.add(record)
            else:
                table.damaged_records += 1

    def _read_lost_pages(self) -> None:
        """Read pages that no readable page leads to, if their rows fit one table only."""
        try:
            free = self._pages.list_free()
        except DamagedPage:
            free = set()
        for number in range(1, self._pages.count + 1):
            if number in self._used or number in free:
                continue
            try:
                kind = self._pages.get_type(number)
                records = [*self._pages.read_records(number)] if kind in LEAF_TYPES else []
            except DamagedPage:
                continue
            for record in records:
                if record is not None and (table := self._find_table(record, kind)):
                    table.add(record)

    def _find_table(self, record: Record, kind: int) -> _Table | None:
        fitting = [
            table
            for table in self._tables.values()
            if table.leaf_type == kind and table.fits(record) and table.may_have(record)
        ]
        return fitting[0] if len(fitting) == 1 else None


def _list_tables(connection: Any) -> list[_Table]:
    query = "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    tables = []
    for name, sql in connection.execute(query).fetchall():
        columns = [
            (column, kind, bool(is_required), key)
            for _, column, kind, is_required, _, key in connection.execute(
                f"PRAGMA table_info({name})"
            ).fetchall()
        ]
        tables.append(_Table(name, columns, by_key="WITHOUT ROWID" in sql.upper()))
    return tables
