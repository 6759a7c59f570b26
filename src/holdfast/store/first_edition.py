"""Set aside (rename) a SQLite file of the first edition of Holdfast. Its data is not changed."""

from __future__ import annotations

import os
import time

from holdfast.errors import StoreUnavailable
from holdfast.store import sqlite_migrations

try:
    # As in sqlite_migrations.py: without the import time of `sqlite3`.
    import _sqlite3 as sqlite3
except ImportError:
    import sqlite3  # type: ignore[no-redef]

SUFFIX = ".first-edition"
RECOVER_HINT = (
    "`holdfast recover FOLDER` imports the sessions again from their transcripts"
    " (for Claude Code FOLDER is ~/.claude/projects)"
)
RETRY_SECONDS = 0.01


def set_aside(path: str, busy_seconds: float) -> None:
    """Rename the database at `path` and report it, unless another process has done so.

    Raises StoreUnavailable if another process keeps the database open for longer than
    `busy_seconds`, and the errors of SQLite and of the file system.
    """
    deadline = time.monotonic() + busy_seconds
    while True:
        try:
            target = _rename(path)
            break
        except sqlite3.OperationalError as problem:
            if "locked" not in str(problem):
                raise
            if time.monotonic() > deadline:
                raise StoreUnavailable(
                    f"{path} is of the first edition, and another process has it open",
                    hint="stop the first edition's `holdfast serve`; the file is then set aside",
                ) from problem
        # A random pause, so that two processes do not block each other again at the same moment.
        time.sleep(RETRY_SECONDS * (1 + os.urandom(1)[0] / 64))
    if target:
        sqlite_migrations.report(
            f"{path} was made by the first edition of Holdfast and is now {target};"
            f" a new file was started, and {RECOVER_HINT}"
        )


def _rename(path: str) -> str:
    """Rename the database; return its new path, or "" if there is no database of the first edition.

    Raises OperationalError if another process has the database open.
    """
    inode = sqlite_migrations.get_inode(path)
    if not inode:
        return ""
    connection = sqlite_migrations.open_file(path, 0)
    try:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        # Reading takes a lock, and no process renames the file while it is held. If the file was
        # renamed before, SQLite may have opened the write-ahead log of the file now at this path.
        if sqlite_migrations.get_inode(path) != inode or not sqlite_migrations.is_first_edition(
            version
        ):
            return ""
        # Moves what is in the write-ahead log into the file and deletes the log. Then there is one
        # file to rename, which is atomic; a new database beside an old log would be corrupted.
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("BEGIN EXCLUSIVE")
        if sqlite_migrations.get_inode(path) != inode:
            return ""
        if os.name == "nt":
            # Windows does not rename an open file, and fails if another process has it open.
            connection.close()
        return _move(path)
    finally:
        connection.close()


def _move(path: str) -> str:
    """Rename the file to the first free name, without overwriting any file; return the name."""
    number = 1
    while True:
        target = path + SUFFIX + (f"-{number}" if number > 1 else "")
        try:
            os.link(path, target)
        except FileExistsError:
            if not os.path.samefile(path, target):
                number += 1
                continue
            # Another process was killed after it had made the link.
        except OSError:
            # The file system has no hard links.
            if os.path.exists(target):
                number += 1
                continue
            os.rename(path, target)
            return target
        os.unlink(path)
        return target
