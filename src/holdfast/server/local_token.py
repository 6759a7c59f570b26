"""The token of the user who runs the server: a file that only this user can read.

Requests need it where the system does not tell which user sends them. Without third-party imports,
so that the command line can read it.
"""

from __future__ import annotations

import hmac
import os
import secrets

from holdfast import own_files
from holdfast.errors import StoreUnavailable
from holdfast.ledger.tokens import TOKEN_PREFIX

FILE_NAME = "server-token"
MAX_FILE_BYTES = 200


def find_path(home: str) -> str:
    """Return the path of the file in Holdfast's home."""
    return os.path.join(home, FILE_NAME)


def ensure(home: str) -> str:
    """Return the token; create it if the file is missing or holds none.

    Raises `StoreUnavailable` if the file cannot be written.
    """
    path = find_path(home)
    try:
        os.makedirs(home, own_files.FOLDER_MODE, exist_ok=True)
        if not _read(path):
            own_files.replace(path, TOKEN_PREFIX + secrets.token_urlsafe(32) + "\n")
    except OSError as problem:
        raise StoreUnavailable(f"{path} cannot be written ({problem.strerror})") from None
    return _read(path)


def is_valid(path: str, token: str) -> bool:
    """Return whether the file at `path` holds this token now."""
    expected = _read(path)
    return bool(expected) and hmac.compare_digest(expected.encode(), token.encode())


def _read(path: str) -> str:
    try:
        with open(path, encoding="ascii") as file:
            token = file.read(MAX_FILE_BYTES).strip()
    except (OSError, ValueError):
        return ""
    return token if token.startswith(TOKEN_PREFIX) else ""
