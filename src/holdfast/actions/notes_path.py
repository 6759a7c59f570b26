"""Where a session's notes are: apart, because every lookup asks and few find any."""

from __future__ import annotations

import os

SIGNS = frozenset("-_.")


def path_of(project: str, session: str) -> str:
    name = "".join(sign if sign.isalnum() or sign in SIGNS else "-" for sign in session)
    return os.path.join(project, ".holdfast", "sessions", name.lstrip(".") or "-", "notes.md")
