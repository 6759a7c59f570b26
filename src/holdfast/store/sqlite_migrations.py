"""Open a SQLite file: create it, migrate it, replace it if it is damaged or of the first edition.

`PRAGMA user_version` holds the version. Migration 0001 creates version 101. Lower versions are from
the first edition, which is never migrated.
"""

from __future__ import annotations

import os

from holdfast import own_files
from holdfast.errors import StoreUnavailable

try:
    # The C module behind `sqlite3`: the same API, without `datetime` and its import time.
    import _sqlite3 as sqlite3
except ImportError:
    import sqlite3  # type: ignore[no-redef]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# Python cannot decode SQLite's message about a schema with a damaged byte.
Error = (sqlite3.Error, UnicodeDecodeError)
HERE = os.path.dirname(__file__)
VERSION_OFFSET = 100
# The folder of the migrations, and the version after all of them.
STORE_MIGRATIONS = (os.path.join(HERE, "migrations", "sqlite"), VERSION_OFFSET + 2)
LEDGER_MIGRATIONS = (os.path.join(HERE, "migrations", "sqlite_ledger"), VERSION_OFFSET + 1)
# A file of the first edition is set aside and a new one opened. If several processes do this at the
# same time, it can take more than one attempt.
CONNECT_ATTEMPTS = 5
# SQLITE_CORRUPT and SQLITE_NOTADB; the higher bits of a code say more.
DAMAGE_CODES, PRIMARY_CODE = (11, 26), 0xFF
# The suffix of a file that exists while a damaged database is replaced (see salvage.py).
SALVAGE_MARKER = ".salvage"
# SQLite's name for a database without a file.
IN_MEMORY = ":memory:"


class FirstEditionFound(Exception):
    """The database at the path is of the first edition."""


def _warn(message: str) -> None:
    import warnings

    warnings.warn(message, stacklevel=2)


# Receives one sentence for each file of the first edition that was set aside. Hooks write it to the
# log, commands to stderr; a program that uses Holdfast as a library gets a warning.
report: Callable[[str], None] = _warn


def load_queries(file_name: str = "repository") -> dict[str, str]:
    """Return the named statements of a file under sql/."""
    with open(os.path.join(HERE, "sql", f"{file_name}.sql"), encoding="utf-8") as file:
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
    migrations: tuple[str, int] | None = None,
) -> tuple[sqlite3.Connection, int]:
    """Return a connection to a database of the current version, and the inode of its file.

    With `any_thread` the caller makes sure that one thread uses it at a time. With `own_folder` the
    folder gets mode 0700. `migrations` is STORE_MIGRATIONS (the default) or LEDGER_MIGRATIONS.

    Raises StoreUnavailable, or StoreDamaged if the file is damaged or being salvaged.
    """
    migrations = migrations or STORE_MIGRATIONS
    if path == IN_MEMORY:
        return _prepare(sqlite3.connect(path, isolation_level=None), path, migrations), 0
    for _ in range(CONNECT_ATTEMPTS):
        inode = 0
        try:
            is_missing = not os.path.exists(path)
            # Asked after the question above: a damaged file is renamed only after this one is made.
            if os.path.exists(path + SALVAGE_MARKER):
                from holdfast.store import salvage

                salvage.wait(path, _name_kind(migrations), busy_seconds)
            elif is_missing:
                _create_empty(path, migrations, own_folder=own_folder)
            inode = get_inode(path)
            try:
                connection = _open(path, busy_seconds, migrations, any_thread=any_thread)
                if get_inode(path) == inode:
                    return connection, inode
                # Another process has set the file aside meanwhile. SQLite finds a write-ahead log
                # by its path, so this connection would use the log of the new file with the old
                # file. Closing it is safe, because SQLite does not touch the log of a renamed file.
                connection.close()
            except FirstEditionFound:
                from holdfast.store import first_edition

                first_edition.set_aside(path, busy_seconds)
        except Error as problem:
            if get_inode(path) == inode:
                raise to_store_error(problem, path, inode, migrations) from problem
        except OSError as problem:
            raise StoreUnavailable(f"{path} ({problem.strerror or problem})") from problem
    raise StoreUnavailable(
        f"{path} is created again and again by the first edition of Holdfast",
        hint="another installation is still in use: remove it, or set HOLDFAST_HOME",
    )


def to_store_error(
    problem: Exception, path: str, inode: int, migrations: tuple[str, int] | None = None
) -> StoreUnavailable:
    """Return the error to raise for an error of SQLite. A damaged file is set aside, and what can
    be read of it is copied into a new one.
    """
    if not is_damage(problem) or path == IN_MEMORY:
        return StoreUnavailable(f"{path} ({problem})")
    from holdfast.store import salvage

    return salvage.begin(path, inode, _name_kind(migrations), problem)


def is_damage(problem: Exception) -> bool:
    """Whether an error of SQLite says that the file is damaged. “malformed JSON” does not."""
    if isinstance(problem, UnicodeDecodeError):
        return True
    return getattr(problem, "sqlite_errorcode", 0) & PRIMARY_CODE in DAMAGE_CODES


def _name_kind(migrations: tuple[str, int] | None) -> str:
    return "ledger" if migrations is LEDGER_MIGRATIONS else "store"


def open_or_create(
    path: str, busy_seconds: float, migrations: tuple[str, int]
) -> sqlite3.Connection:
    """Open a database that no other process uses yet; raises the errors of SQLite."""
    if not os.path.exists(path):
        _create_empty(path, migrations, own_folder=False)
    return _open(path, busy_seconds, migrations)


def _create_empty(path: str, migrations: tuple[str, int], *, own_folder: bool) -> None:
    create(path, lambda fresh: _open(fresh, 1.0, migrations).close(), own_folder=own_folder)


def is_first_edition(version: int) -> bool:
    return 0 < version <= VERSION_OFFSET


def get_inode(path: str) -> int:
    """Return the inode of a file, or 0 if there is none."""
    try:
        return os.stat(path).st_ino
    except FileNotFoundError:
        return 0


def open_file(
    path: str, busy_seconds: float, *, any_thread: bool = False, mode: str = "mode=rw"
) -> sqlite3.Connection:
    """Open an existing SQLite file.

    Unlike `sqlite3.connect`, this does not create one. Another process may have just renamed its
    database away from this path. SQLite would then create an empty file, convert it with a rollback
    journal, and processes that still have the old file open would apply that journal to it.
    """
    quoted = os.path.abspath(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    if os.name == "nt":
        quoted = "/" + quoted.replace("\\", "/")
    return sqlite3.connect(
        f"file://{quoted}?{mode}",
        timeout=busy_seconds,
        isolation_level=None,
        check_same_thread=not any_thread,
        uri=True,
    )


def _open(
    path: str, busy_seconds: float, migrations: tuple[str, int], *, any_thread: bool = False
) -> sqlite3.Connection:
    connection = open_file(path, busy_seconds, any_thread=any_thread)
    return _prepare(connection, path, migrations)


def _prepare(
    connection: sqlite3.Connection, path: str, migrations: tuple[str, int]
) -> sqlite3.Connection:
    """Set the connection's options and migrate its database; close it if that fails."""
    try:
        connection.execute("PRAGMA foreign_keys = ON")
        # With WAL, nothing is lost by kill -9. A power cut can lose the last save, but does not
        # damage the file.
        connection.execute("PRAGMA synchronous = NORMAL")
        if migrations is not LEDGER_MIGRATIONS:
            # Each hook that opens the store reads the write-ahead log first, so it is kept short.
            connection.execute("PRAGMA wal_autocheckpoint = 200")
        version = _read_version(connection)
        if is_first_edition(version):
            raise FirstEditionFound
        if version != migrations[1]:
            _migrate(connection, path, migrations)
    except BaseException:
        connection.close()
        raise
    return connection


def _read_version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def create(path: str, make: Callable[[str], None], *, own_folder: bool) -> None:
    """Call `make` to create a database under a temporary name, then link it to `path`, so that no
    process sees an incomplete one. A database that exists already is kept.
    """
    folder = os.path.dirname(path)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if own_folder:
        os.chmod(folder, 0o700)
    fresh = own_files.choose_temporary_name(path)
    own_files.create(fresh, "")
    try:
        make(fresh)
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


def _migrate(connection: sqlite3.Connection, path: str, migrations: tuple[str, int]) -> None:
    """Apply the missing migrations in one transaction, which holds SQLite's write lock.

    Raises StoreUnavailable for a database of a newer version.
    """
    folder, newest = migrations
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    # Another process may have migrated while this one waited for the lock.
    version = _read_version(connection)
    if version > newest:
        connection.execute("ROLLBACK")
        raise StoreUnavailable(
            f"{path} was made by a newer Holdfast (version {version}, this one knows {newest})",
            hint="upgrade Holdfast, or point HOLDFAST_HOME at another folder",
        )
    if version < newest:
        if path != IN_MEMORY:
            os.chmod(path, 0o600)
        if version:
            _back_up(path, version)
        for statement in _list_statements(folder, version):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {newest}")
    connection.execute("COMMIT")


def _list_statements(folder: str, after: int) -> list[str]:
    """Return the statements of all migrations that lead beyond version `after`, in order."""
    statements: list[str] = []
    for name in sorted(os.listdir(folder)):
        if name.endswith(".sql") and VERSION_OFFSET + int(name[:4]) > after:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                statements.extend(_split_statements(file.read()))
    return statements


def _split_statements(script: str) -> list[str]:
    # `executescript` would commit the open transaction first, so statements are run one by one.
    statements, statement = [], ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            statements.append(statement.strip())
            statement = ""
    return statements


def _back_up(path: str, version: int) -> None:
    """Copy the database as it is before a migration."""
    target = f"{path}.v{version}.bak"
    fresh = own_files.choose_temporary_name(target)
    own_files.create(fresh, "")
    source, copy = sqlite3.connect(path), sqlite3.connect(fresh)
    try:
        source.backup(copy)
    finally:
        source.close()
        copy.close()
    os.replace(fresh, target)
