"""Flag files beside the ledger. They tell hooks whether messages may be waiting, so that a hook
need not open a database.

There is an empty file for each name that messages are sent to, and one for broadcasts. Its
modification time is set to the time at which its last message expires; its change time (ctime) is
when the flag was raised.
"""

from __future__ import annotations

import os
import zlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# The name of the flag for broadcasts. No agent has an empty name.
ALL_AGENTS = ""
NANOSECONDS = 1_000_000_000
# A flag may be raised a moment before other processes can see its message.
FRESH_NANOSECONDS = 5 * NANOSECONDS


def flags_folder(ledger: str) -> str:
    """Return the folder with the flags of the ledger in this file."""
    return os.path.join(os.path.dirname(ledger), "mail")


def raise_flag(ledger: str, name: str, expires: float) -> None:
    """Raise the flag of a name for a message that expires at this time."""
    folder = flags_folder(ledger)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    path, modified_at = _flag_path(folder, name), int(expires * NANOSECONDS)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        # Each message changes the time, even one that expires before the others.
        modified_at = max(modified_at, os.stat(path).st_mtime_ns + 1)
    os.utime(path, ns=(modified_at, modified_at))


def read_flags(ledger: str, names: Iterable[str], now: float) -> str:
    """Return the state of the flags of these names as one string, which changes with each message;
    empty if no flag is raised. A `?` in it marks a flag that was raised a moment ago.
    """
    folder, now_ns = flags_folder(ledger), int(now * NANOSECONDS)
    times = []
    for name in names:
        try:
            flag = os.stat(_flag_path(folder, name))
        except OSError:
            continue
        if flag.st_mtime_ns > now_ns:
            is_fresh = now_ns - flag.st_ctime_ns < FRESH_NANOSECONDS
            times.append(f"{flag.st_mtime_ns}{'?' if is_fresh else ''}")
    return " ".join(times)


def has_changed(ledger: str, reader: str, flags: str) -> bool:
    """Return whether the flags differ from those that the reader saved with `save_seen`."""
    try:
        with open(_seen_path(ledger, reader), encoding="ascii") as file:
            return file.read() != flags
    except OSError:
        return True


def save_seen(ledger: str, reader: str, flags: str) -> None:
    """Save that the reader has seen all messages up to these flags. Fresh flags are not saved: the
    reader looks at them once more.
    """
    if "?" in flags:
        return
    temporary = f"{_seen_path(ledger, reader)}-{os.getpid()}"
    with open(os.open(temporary, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
        file.write(flags)
    os.replace(temporary, _seen_path(ledger, reader))


def delete_old(ledger: str, before: float) -> None:
    """Delete flags that were raised before this time and whose messages had expired by then."""
    folder = flags_folder(ledger)
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        path = os.path.join(folder, name)
        try:
            flag = os.stat(path)
            if max(flag.st_mtime, flag.st_ctime) < before:
                os.unlink(path)
        except OSError:
            continue  # another process was faster


def _flag_path(folder: str, name: str) -> str:
    # Two names with the same checksum only cause a needless look at the messages.
    return os.path.join(folder, f"{zlib.crc32(name.encode('utf-8', 'replace')):08x}")


def _seen_path(ledger: str, reader: str) -> str:
    return f"{_flag_path(flags_folder(ledger), reader)}.seen"
