"""Write files that belong to Holdfast: for their owner only, atomically, never through a link.

Some of them are in the user's project, where a cloned repository can put symbolic links in their
place. Hooks import this module, so it imports little itself.
"""

from __future__ import annotations

import os
import time

FILE_MODE, FOLDER_MODE = 0o600, 0o700
TEMPORARY_MARK = ".holdfast-"
# A process that is killed while it writes leaves its temporary file; the next writer deletes it.
MAX_TEMPORARY_AGE_SECONDS = 60.0
# Windows has no O_NOFOLLOW; there O_EXCL refuses a link too.
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
NEW_FILE_FLAGS = os.O_CREAT | os.O_EXCL | os.O_WRONLY | NO_FOLLOW | getattr(os, "O_BINARY", 0)


def make_folder(root: str, *names: str) -> str:
    """Create the folders `names`, each in the one before, in the existing folder `root`.

    Returns the path of the last. Raises OSError if one is a symbolic link or cannot be created.
    """
    folder = root
    for name in names:
        folder = os.path.join(folder, name)
        if os.path.islink(folder):
            import errno

            raise OSError(errno.ELOOP, "a symbolic link, so nothing is written there", folder)
        try:
            os.mkdir(folder, FOLDER_MODE)
        except FileExistsError:
            if not os.path.isdir(folder):
                raise
    return folder


def create(path: str, text: str) -> None:
    """Create a file; raises FileExistsError if there is a file or link of that name, or OSError."""
    with open(os.open(path, NEW_FILE_FLAGS, FILE_MODE), "wb") as file:
        file.write(text.encode("utf-8", "surrogateescape"))


def replace(path: str, text: str) -> None:
    """Create the file or replace it as a whole; a symbolic link is replaced, not followed.

    Raises OSError and leaves the old file if it cannot be written.
    """
    temporary = write_temporary(path, text)
    try:
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise


def write_temporary(path: str, text: str) -> str:
    """Write the text to a new file beside `path` and return its name.

    Raises OSError, and then leaves no file.
    """
    temporary = choose_temporary_name(path)
    try:
        create(temporary, text)
    except OSError:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
    return temporary


def choose_temporary_name(path: str) -> str:
    """Return a random name beside `path`, which a repository cannot contain already.

    Temporary files that killed writers of `path` left are deleted. Raises OSError if the folder
    cannot be read.
    """
    folder, name = os.path.split(path)
    oldest = time.time() - MAX_TEMPORARY_AGE_SECONDS
    for other in os.listdir(folder):
        if not other.startswith(name + TEMPORARY_MARK):
            continue
        abandoned = os.path.join(folder, other)
        try:
            if os.lstat(abandoned).st_mtime < oldest:
                os.unlink(abandoned)
        except OSError:
            continue  # another process deleted it, or it is not ours to delete
    return f"{path}{TEMPORARY_MARK}{os.urandom(8).hex()}"
