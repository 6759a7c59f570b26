"""One line for each thing that went wrong in silence; `holdfast doctor` reads them back."""

from __future__ import annotations

import os
import time

from holdfast.redact import redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

LARGEST = 1 << 20
LONGEST = 1000


def note(path: str, message: str, environ: Mapping[str, str]) -> None:
    """Append a line; where the home cannot be written, the temporary folder takes it."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S%z")
    line = f"{stamp} {' '.join(redact(message).split())[:LONGEST]}\n"
    for target in (path, fallback(environ)):
        try:
            _append(target, line)
        except OSError:
            continue
        return


def fallback(environ: Mapping[str, str]) -> str:
    folder = environ.get("TMPDIR") or environ.get("TEMP") or "/tmp"
    user = os.getuid() if hasattr(os, "getuid") else "user"
    return os.path.join(folder, f"holdfast-{user}.log")


def tail(path: str, most: int = 20) -> list[str]:
    """The last lines, oldest first."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return [line.rstrip("\n") for line in file.readlines()[-most:]]
    except OSError:
        return []


def _append(path: str, line: str) -> None:
    if os.path.dirname(path):
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    # Never through a link: the fallback lies in a folder that others can write to.
    flags = os.O_CREAT | os.O_APPEND | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0)
    file = os.open(path, flags, 0o600)
    try:
        if hasattr(os, "getuid") and os.fstat(file).st_uid != os.getuid():
            raise PermissionError(path)
        data = line.encode("utf-8", "replace")
        if os.write(file, data) != len(data):
            raise OSError("the line was cut")
        large = os.fstat(file).st_size > LARGEST
    finally:
        os.close(file)
    if large:
        os.replace(path, f"{path}.1")
