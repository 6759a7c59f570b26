"""Open the SQLite file: made in one step, migrated under a lock, set aside when damaged."""

from __future__ import annotations

import os
import time

from holdfast.errors import StoreDamaged, StoreUnavailable

try:
    # The C module behind `sqlite3`: the same API, without `datetime` and its import time.
    import _sqlite3 as sqlite3
except ImportError:
    import sqlite3  # type: ignore[no-redef]

Error = sqlite3.Error
VERSION = 4
HERE = os.path.dirname(__file__)
MIGRATIONS = os.path.join(HERE, "migrations", "sqlite")
# The ledger has a file of its own: no hook reads its tables, or waits while somebody fills them.
LEDGER = (os.path.join(HERE, "migrations", "sqlite_ledger"), 8)


def queries(name: str = "queries") -> dict[str, str]:
    """Named statements of a file under sql/."""
    with open(os.path.join(HERE, "sql", f"{name}.sql"), encoding="utf-8") as file:
        parts = file.read().split("-- name: ")[1:]
    return {
        name.strip(): text.strip() for name, _, text in (part.partition("\n") for part in parts)
    }


def connect(
    path: str,
    busy_seconds: float,
    *,
    any_thread: bool = False,
    own_folder: bool = True,
    plan: tuple[str, int] | None = None,
) -> tuple[sqlite3.Connection, int]:
    """A connection to a store of the current version, whatever there was before, and its inode.

    Whoever shares it among threads must see to it that one uses it at a time. A folder that is
    not our own is left as it is. `plan` is the folder of the migrations and how many there are.
    """
    inode = 0
    plan = plan or (MIGRATIONS, VERSION)
    try:
        if not os.path.exists(path):
            _create(path, plan, own_folder)
        inode = os.stat(path).st_ino
        return _open(path, busy_seconds, plan, any_thread=any_thread), inode
    except sqlite3.Error as problem:
        raise explain(problem, path, inode) from problem
    except OSError as problem:
        raise StoreUnavailable(f"{path} ({problem.strerror or problem})") from problem


def explain(problem: sqlite3.Error, path: str, inode: int) -> StoreUnavailable:
    """What a database error means; a damaged file is set aside so that the next run works."""
    if "not a database" in str(problem) or "malformed" in str(problem):
        return StoreDamaged(f"{problem}; {_set_aside(path, inode)}")
    return StoreUnavailable(f"{path} ({problem})")


def _open(
    path: str,
    busy_seconds: float,
    plan: tuple[str, int],
    *,
    is_new: bool = False,
    any_thread: bool = False,
) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=busy_seconds, isolation_level=None, check_same_thread=not any_thread
    )
    try:
        connection.execute("PRAGMA foreign_keys = ON")
        # With WAL this survives kill -9; a power cut can cost the last save, never the file.
        connection.execute("PRAGMA synchronous = NORMAL")
        if plan is not LEDGER:
            # Whoever opens the store reads the log first, so it is kept short: hooks do.
            connection.execute("PRAGMA wal_autocheckpoint = 200")
        if _version(connection) != plan[1]:
            _migrate(connection, path, plan, back_up=not is_new)
    except BaseException:
        connection.close()
        raise
    return connection


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _create(path: str, plan: tuple[str, int], own_folder: bool) -> None:
    """Made beside its place and linked into it: nobody ever sees half a store."""
    folder = os.path.dirname(path)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if own_folder:
        os.chmod(folder, 0o700)
    fresh = f"{path}.new-{os.getpid()}-{os.urandom(3).hex()}"
    os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        _open(fresh, 1.0, plan, is_new=True).close()
        try:
            os.link(fresh, path)
        except FileExistsError:
            pass
        except OSError:
            if not os.path.exists(path):
                os.rename(fresh, path)
    finally:
        for leftover in (fresh, f"{fresh}-wal", f"{fresh}-shm"):
            if os.path.exists(leftover):
                os.unlink(leftover)


def _migrate(
    connection: sqlite3.Connection, path: str, plan: tuple[str, int], *, back_up: bool
) -> None:
    folder, newest = plan
    connection.execute("PRAGMA journal_mode = WAL")
    # The write lock is the migration lock: whoever comes second finds the work done.
    connection.execute("BEGIN IMMEDIATE")
    version = _version(connection)
    if version > newest:
        connection.execute("ROLLBACK")
        raise StoreUnavailable(
            f"{path} was made by a newer Holdfast (version {version}, this one knows {newest})",
            hint="upgrade Holdfast, or point HOLDFAST_HOME at another folder",
        )
    if version < newest:
        os.chmod(path, 0o600)
        if back_up:
            _back_up(path, version)
        for statement in statements(folder, version):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {newest}")
    connection.execute("COMMIT")


def statements(folder: str, after: int) -> list[str]:
    """The statements of every migration newer than `after`, in order."""
    found: list[str] = []
    for name in sorted(os.listdir(folder)):
        if name.endswith(".sql") and int(name[:4]) > after:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                found.extend(_split(file.read()))
    return found


def _split(script: str) -> list[str]:
    # executescript() would commit first; one statement at a time stays in the transaction.
    found, statement = [], ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            found.append(statement.strip())
            statement = ""
    return found


def _back_up(path: str, version: int) -> None:
    """A copy of the store as it was, beside it, before anything changes."""
    target = f"{path}.v{version}.bak"
    fresh = f"{target}.new"
    os.close(os.open(fresh, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600))
    source, copy = sqlite3.connect(path), sqlite3.connect(fresh)
    try:
        source.backup(copy)
    finally:
        source.close()
        copy.close()
    os.replace(fresh, target)


def _set_aside(path: str, inode: int) -> str:
    """Move a damaged file away, unless another process did and a new one stands in its place."""
    aside = f"{path}.damaged-{time.strftime('%Y%m%d-%H%M%S')}"
    try:
        if os.stat(path).st_ino != inode:
            return "another process has set it aside"
        os.replace(path, aside)
        for ending in ("-wal", "-shm"):
            if os.path.exists(path + ending):
                os.replace(path + ending, aside + ending)
    except FileNotFoundError:
        return "another process has set it aside"
    except OSError as problem:
        return f"it could not be set aside ({problem.strerror})"
    return f"it is now {aside}"
