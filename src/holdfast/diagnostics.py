"""The log file: one line for each failure that was hidden from the host. `doctor` shows them."""

from __future__ import annotations

import os
import time

from holdfast.redaction import redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_LOG_BYTES = 1 << 20
MAX_MESSAGE_CHARS = 1000


def log(path: str, message: str, environ: Mapping[str, str]) -> None:
    """Append a line with the time and the redacted message.

    If the file cannot be written, the line goes to the fallback in the temporary folder; if that
    fails too, it is lost. Does not raise OSError.
    """
    timestamp = time.strftime("%Y-%m-%dT%H:%M:%S%z")
    line = f"{timestamp} {' '.join(redact(message).split())[:MAX_MESSAGE_CHARS]}\n"
    for target in (path, fallback_path(environ)):
        try:
            _append(target, line)
        except OSError:
            continue
        return


def fallback_path(environ: Mapping[str, str]) -> str:
    """Return the log file of this user in the temporary folder."""
    folder = environ.get("TMPDIR") or environ.get("TEMP") or "/tmp"
    user = os.getuid() if hasattr(os, "getuid") else "user"
    return os.path.join(folder, f"holdfast-{user}.log")


def read_tail(path: str, limit: int = 20) -> list[str]:
    """Return the last lines, oldest first; [] if the file cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return [line.rstrip("\n") for line in file.readlines()[-limit:]]
    except OSError:
        return []


def _append(path: str, line: str) -> None:
    """Append a line; move a file that has grown too large to `path`.1."""
    if os.path.dirname(path):
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    # No symbolic links: other users can write to the folder of the fallback.
    flags = os.O_CREAT | os.O_APPEND | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(path, flags, 0o600)
    try:
        if hasattr(os, "getuid") and os.fstat(descriptor).st_uid != os.getuid():
            raise PermissionError(path)
        data = line.encode("utf-8", "replace")
        if os.write(descriptor, data) != len(data):
            raise OSError("the line was cut")
        is_full = os.fstat(descriptor).st_size > MAX_LOG_BYTES
    finally:
        os.close(descriptor)
    if is_full:
        os.replace(path, f"{path}.1")
