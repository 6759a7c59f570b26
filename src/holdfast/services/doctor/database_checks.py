"""Check for `holdfast doctor` that the three databases are whole and can be written."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

from holdfast import own_files
from holdfast.services.doctor.hook_checks import Finding
from holdfast.settings import Settings
from holdfast.store import first_edition, salvage, sqlite_migrations

# How long a check waits for a process that writes. Hooks wait as long.
LOCK_TIMEOUT_SECONDS = 1.0
# A database of some gigabytes is not read to its end.
QUICK_CHECK_SECONDS = 10.0
# How often SQLite calls `_stop_after`: after so many of its instructions.
INSTRUCTIONS_PER_CALL = 100_000
PROBE_TABLE = "holdfast_doctor_probe"
PROBE_TEXT = "x" * 4096
SPACE_HINT = "make room on this disk; until then hooks print their output and save nothing"
READ_ONLY_HINT = (
    "make {home} writable or set HOLDFAST_HOME to another folder; until then hooks print their "
    "output and save nothing"
)
LOCK_HINT = "another process holds the lock; `fuser FILE` names it. Until then hooks save nothing"
INDEX_HINT = "`holdfast index rebuild` makes it again from the transcripts"
SALVAGE_HINT = "run `holdfast doctor` again in a moment"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why a folder or a database cannot be used as it should."""

    detail: str
    hint: str


def check_databases(settings: Settings) -> Iterator[Finding]:
    """Yield findings about the home folder, the store, the ledger and the search index.

    A database that is damaged, locked or cannot be written is a failure. A damaged store or ledger
    is set aside, and what can be read of it is copied into a new one.
    """
    home_problem = _try_file(settings.home)
    if home_problem is not None:
        yield Finding(name="home", status="fail", detail=f"{settings.home}: {home_problem.detail}",
                      hint=home_problem.hint)  # fmt: skip
    for name, path in (
        ("store", settings.database),
        ("ledger", settings.ledger),
        ("search index", settings.index),
    ):
        yield from _check_database(name, path, settings.home, home_problem)


def _check_database(
    name: str, path: str, home: str, home_problem: Problem | None
) -> Iterator[Finding]:
    if os.path.exists(path + salvage.MARKER):
        detail = f"{path} was damaged; what can be read is being copied into a new file"
        yield Finding(name=name, status="fail", detail=detail, hint=SALVAGE_HINT)
    elif not os.path.exists(path):
        if name == "store":
            yield Finding(name=name, status="info", detail=f"none yet at {path}")
    elif problem := _find_problem(name, path, home, home_problem):
        yield Finding(name=name, status="fail", detail=f"{path}: {problem.detail}",
                      hint=problem.hint)  # fmt: skip
    else:
        yield Finding(name=name, status="ok", detail=path)


def _try_file(home: str) -> Problem | None:
    """Write a file with a few kilobytes to the home folder and remove it again."""
    folder = home
    while not os.path.exists(folder) and os.path.dirname(folder) != folder:
        # A folder that does not exist yet is created by the first hook.
        folder = os.path.dirname(folder)
    probe = os.path.join(folder, f".holdfast-probe{own_files.TEMPORARY_MARK}{os.urandom(8).hex()}")
    try:
        own_files.create(probe, PROBE_TEXT)
        try:
            with open(probe, "rb") as file:
                os.fsync(file.fileno())
        finally:
            os.unlink(probe)
    except OSError as problem:
        if os.path.lexists(probe):
            os.unlink(probe)
        return _explain_os_error(problem, home)
    return None


def _explain_os_error(problem: OSError, home: str) -> Problem:
    detail = f"it cannot be written ({problem.strerror or problem})"
    if problem.errno in (errno.ENOSPC, errno.EDQUOT):
        return Problem(detail="the disk is full", hint=SPACE_HINT)
    if problem.errno in (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR):
        return Problem(detail=detail, hint=READ_ONLY_HINT.format(home=home))
    return Problem(detail=detail, hint="the operating system refuses it; its log may say why")


def _find_problem(name: str, path: str, home: str, home_problem: Problem | None) -> Problem | None:
    """Read the database and try a write that is rolled back; return what is wrong, or None.

    A problem of the folder is one of its databases too: SQLite may still find room in a file that
    it has already, or fail with an error that does not say why.
    """
    inode = sqlite_migrations.get_inode(path)
    try:
        with closing(_open(path)) as connection:
            damage = _quick_check(connection)
            if not damage:
                _try_write(connection)
                return home_problem
    except sqlite_migrations.Error as problem:
        if not sqlite_migrations.is_damage(problem):
            return home_problem or _explain_sqlite_error(problem, home)
        damage = str(problem)
    if name == "search index":
        return Problem(detail=f"it is damaged ({damage})", hint=INDEX_HINT)
    error = salvage.begin(path, inode, name, damage)
    return Problem(detail=str(error), hint=error.hint)


def _open(path: str) -> sqlite3.Connection:
    connection = sqlite_migrations.open_file(path, LOCK_TIMEOUT_SECONDS)
    assert isinstance(connection, sqlite3.Connection)
    return connection


def _quick_check(connection: sqlite3.Connection) -> str:
    """Return the first damage that SQLite finds within the time, or ""."""
    with _stop_after(connection, QUICK_CHECK_SECONDS):
        try:
            (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        except sqlite3.OperationalError as problem:
            if "interrupted" in str(problem):
                return ""
            raise
    return "" if found == "ok" else " ".join(str(found).split())


@contextmanager
def _stop_after(connection: sqlite3.Connection, seconds: float) -> Iterator[None]:
    deadline = time.monotonic() + seconds
    connection.set_progress_handler(lambda: time.monotonic() > deadline, INSTRUCTIONS_PER_CALL)
    try:
        yield
    finally:
        connection.set_progress_handler(None, 0)


def _try_write(connection: sqlite3.Connection) -> None:
    """Write a row to a table of its own, so that it gets a page, and roll it back.

    SQLite writes it to the disk only if its cache is too small for it.
    """
    connection.execute("PRAGMA cache_size = 1")
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(f"CREATE TABLE {PROBE_TABLE} (text TEXT)")
        for _ in range(20):
            connection.execute(f"INSERT INTO {PROBE_TABLE} VALUES (?)", (PROBE_TEXT,))
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _explain_sqlite_error(problem: Exception, home: str) -> Problem:
    text = str(problem)
    if "locked" in text or "busy" in text:
        return Problem(detail=f"another process locks it ({text})", hint=LOCK_HINT)
    if "full" in text:
        return Problem(detail="the disk is full", hint=SPACE_HINT)
    if "readonly" in text or "unable to open" in text:
        return Problem(
            detail=f"it cannot be written ({text})", hint=READ_ONLY_HINT.format(home=home)
        )
    return Problem(detail=text, hint="the operating system's log may say why")


def find_set_aside(home: str) -> Iterator[Finding]:
    """Yield a finding for each file that was set aside, with what became of its rows."""
    for name in sorted(os.listdir(home)) if os.path.isdir(home) else ():
        if salvage.ASIDE in name and not name.endswith(("-wal", "-shm", salvage.REPORT)):
            path = os.path.join(home, name)
            yield Finding(
                name="store", status="warn",
                detail=f"a damaged file was set aside: {path}; {_describe_salvage(path)}",
                hint="`sqlite3 FILE .recover` may read more; delete it when it is not needed",
            )  # fmt: skip
        elif first_edition.SUFFIX in name:
            yield Finding(
                name="store", status="warn", detail=f"made by the first edition, set aside: {name}",
                hint=f"{first_edition.RECOVER_HINT}; delete the file when it is not needed",
            )  # fmt: skip


def _describe_salvage(path: str) -> str:
    """Return how many rows of which tables were copied and lost, from the report beside it."""
    try:
        with open(path + salvage.REPORT, encoding="utf-8") as file:
            report = json.load(file)
        copied, lost = _list_counts(report["rows"]), _list_counts(report["lost"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return "nothing is known about its rows"
    return f"copied: {copied or 'no rows'}; not readable: {lost or 'no rows that are known of'}"


def _list_counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} of {table}" for table, count in sorted(counts.items()))
