"""Where a working tree was cloned from: clones of one repository are one project."""

from __future__ import annotations

import os
import re

LARGEST = 1 << 20
_REMOTE = re.compile(r'^\s*\[remote "origin"\]\s*$([^\[]*)', re.MULTILINE)
_URL = re.compile(r"^\s*url\s*=\s*(\S+)\s*$", re.MULTILINE)
_SHORT = re.compile(r"^(?:[^@/\s]+@)?([^:/\s]+):(?!/)(\S+)$")
_LONG = re.compile(r"^[a-z+]+://(?:[^@/\s]+@)?([^/\s]+)/(\S+)$")


def origin_of(project: str) -> str:
    """Host and path of `origin`, the same for every way to write it; empty for a tree without."""
    for place in (".git/config", "config"):
        path = os.path.join(project, place)
        try:
            if os.path.getsize(path) < LARGEST:
                with open(path, encoding="utf-8", errors="replace") as file:
                    return _origin(file.read())
        except OSError:
            continue
    return ""


def _origin(config: str) -> str:
    remote = _REMOTE.search(config)
    url = _URL.search(remote[1]) if remote else None
    found = (_LONG.match(url[1]) or _SHORT.match(url[1])) if url else None
    # A path on this machine names nothing on another.
    if found is None or found[1] in ("localhost", "127.0.0.1"):
        return ""
    return f"{found[1].lower()}/{found[2].strip('/').removesuffix('.git')}"
