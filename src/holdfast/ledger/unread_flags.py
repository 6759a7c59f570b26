"""Flag files beside the ledger, by which a hook sees whether messages may be waiting, without
opening a database.

A flag is an empty file. There is one for each agent or agent type that messages were sent to, and
one for broadcasts. Raising a flag sets the file's modification time to the time at which its last
message expires; the change time (ctime) is then the time at which the flag was raised.

A reader stores the flags that it has seen in another file, so that it opens the ledger only if they
have changed.
"""

from __future__ import annotations

import os
import zlib

from holdfast import own_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# The name of the flag for broadcasts. No agent or type has an empty name.
ALL_AGENTS = ""
NANOSECONDS_PER_SECOND = 1_000_000_000
# A flag counts as fresh for this time. It may be raised a moment before other processes can read
# its message.
FRESH_FLAG_NANOSECONDS = 5 * NANOSECONDS_PER_SECOND


def get_flags_folder(ledger: str) -> str:
    """Return the folder with the flags of the ledger in this file."""
    return os.path.join(os.path.dirname(ledger), "mail")


def raise_flag(ledger: str, name: str, expires_at: float) -> None:
    """Raise the flag of an agent or type for a message that expires at this time.

    Raises OSError if the file cannot be written.
    """
    folder = get_flags_folder(ledger)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    path, modified_at = _get_flag_path(folder, name), int(expires_at * NANOSECONDS_PER_SECOND)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        # Every message must change the time, even one that expires before the others.
        modified_at = max(modified_at, os.stat(path).st_mtime_ns + 1)
    os.utime(path, ns=(modified_at, modified_at))


def read_flags(ledger: str, names: Iterable[str], now: float) -> str:
    """Return the flags of these names as one string, which changes with each message. It is empty
    if no flag is raised, and contains a `?` for each fresh flag.
    """
    folder, now_ns = get_flags_folder(ledger), int(now * NANOSECONDS_PER_SECOND)
    times = []
    for name in names:
        try:
            flag = os.stat(_get_flag_path(folder, name))
        except OSError:
            continue
        if flag.st_mtime_ns > now_ns:
            is_fresh = now_ns - flag.st_ctime_ns < FRESH_FLAG_NANOSECONDS
            times.append(f"{flag.st_mtime_ns}{'?' if is_fresh else ''}")
    return " ".join(times)


def have_flags_changed(ledger: str, reader: str, flags: str) -> bool:
    """Return whether the flags differ from those that the reader saved with `save_seen_flags`."""
    try:
        with open(_get_seen_path(ledger, reader), encoding="ascii") as file:
            return file.read() != flags
    except OSError:
        return True


def save_seen_flags(ledger: str, reader: str, flags: str) -> None:
    """Save that the reader has seen all messages of these flags. If one of them is fresh, nothing
    is saved, so that the reader opens the ledger once more.
    """
    if "?" in flags:
        return
    own_files.replace(_get_seen_path(ledger, reader), flags)


def delete_expired_flags(ledger: str, before: float) -> None:
    """Delete flags, and files of seen flags, that were written before this time and whose messages
    had expired by then.
    """
    folder = get_flags_folder(ledger)
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        path = os.path.join(folder, name)
        try:
            flag = os.stat(path)
            if max(flag.st_mtime, flag.st_ctime) < before:
                os.unlink(path)
        except OSError:
            continue  # Another process has deleted it.


def _get_flag_path(folder: str, name: str) -> str:
    # If two names have the same checksum, a reader only opens the ledger once too often.
    return os.path.join(folder, f"{zlib.crc32(name.encode('utf-8', 'replace')):08x}")


def _get_seen_path(ledger: str, reader: str) -> str:
    return f"{_get_flag_path(get_flags_folder(ledger), reader)}.seen"
