"""Flags beside the ledger that tell hooks whether a message may wait, without opening anything.

A flag is an empty file for each name that is written to, and one for all. The time it was given is
when its last message expires; when that was done is for the file system to say.
"""

from __future__ import annotations

import os
import zlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# No name is empty, so a message to nobody in particular has a flag of its own.
ALL = ""
SECOND = 1_000_000_000
# A flag may be raised a moment before its message is there for others to see.
FRESH = 5 * SECOND


def folder(ledger: str) -> str:
    """Where the flags of the ledger in that file are."""
    return os.path.join(os.path.dirname(ledger), "mail")


def raise_flag(ledger: str, name: str, expires: float) -> None:
    """A message was written to this name, or to all."""
    here = folder(ledger)
    os.makedirs(here, mode=0o700, exist_ok=True)
    path, later = _path(here, name), int(expires * SECOND)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        # Each message moves the flag, also one that expires before those that are there.
        later = max(later, os.stat(path).st_mtime_ns + 1)
    os.utime(path, ns=(later, later))


def standing(ledger: str, names: Iterable[str], now: float) -> str:
    """The flags of these names as one word, which changes with each message; empty if none."""
    here, moment = folder(ledger), int(now * SECOND)
    found = []
    for name in names:
        try:
            seen = os.stat(_path(here, name))
        except OSError:
            continue
        if seen.st_mtime_ns > moment:
            fresh = moment - seen.st_ctime_ns < FRESH
            found.append(f"{seen.st_mtime_ns}{'?' if fresh else ''}")
    return " ".join(found)


def is_news(ledger: str, reader: str, word: str) -> bool:
    """Whether that reader has not looked since the flags stood so."""
    try:
        with open(_seen(ledger, reader), encoding="ascii") as file:
            return file.read() != word
    except OSError:
        return True


def looked(ledger: str, reader: str, word: str) -> None:
    """The reader has seen all there was; what is too fresh is looked at once more."""
    if "?" in word:
        return
    fresh = f"{_seen(ledger, reader)}-{os.getpid()}"
    with open(os.open(fresh, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
        file.write(word)
    os.replace(fresh, _seen(ledger, reader))


def tidy(ledger: str, before: float) -> None:
    """Take away what nobody has moved since and no message waits under."""
    here = folder(ledger)
    for name in os.listdir(here) if os.path.isdir(here) else ():
        path = os.path.join(here, name)
        try:
            found = os.stat(path)
            if max(found.st_mtime, found.st_ctime) < before:
                os.unlink(path)
        except OSError:
            continue  # somebody else was quicker


def _path(here: str, name: str) -> str:
    # Two names of one number only cost a look for nothing.
    return os.path.join(here, f"{zlib.crc32(name.encode('utf-8', 'replace')):08x}")


def _seen(ledger: str, reader: str) -> str:
    return f"{_path(folder(ledger), reader)}.seen"
